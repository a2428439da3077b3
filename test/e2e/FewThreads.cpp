// Loaded before a program (LD_PRELOAD): the system has only WEIR_THREADS more threads to give.

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*body)(void *), void *argument) {
  static const char *given = std::getenv("WEIR_THREADS");
  static std::atomic<int> left{given ? std::atoi(given) : 0};
  using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return left.fetch_sub(1) > 0 ? create(thread, attributes, body, argument) : EAGAIN;
}
