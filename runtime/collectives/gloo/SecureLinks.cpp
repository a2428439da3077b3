//===- SecureLinks.cpp - Links over TLS -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/SecureLinks.h"
#include "runtime/collectives/gloo/Connector.h"
#include "runtime/collectives/gloo/Link.h"
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace weir::collectives {
namespace {

/// A mutex that goes to who waits for it before the thread that has just let go of it: with a plain
/// one, the thread that moves much keeps the others out.
class FairMutex {
public:
  void lock() {
    std::lock_guard turn(next);
    mutex.lock();
  }
  void unlock() { mutex.unlock(); }

private:
  std::mutex next, mutex;
};

class SecureLinks : public Links {
public:
  explicit SecureLinks(const Settings &settings)
      : connector(std::make_unique<Connector>(settings)), waker(eventfd(0, EFD_CLOEXEC)) {
    if (waker < 0)
      throw std::runtime_error(std::string("cannot create an eventfd: ") + std::strerror(errno));
  }
  ~SecureLinks() override {
    if (thread.joinable()) {
      {
        std::lock_guard lock(mutex);
        isEnding = true;
      }
      wake();
      thread.join();
    }
    close(waker);
  }

  std::vector<std::string> addresses() const override { return connector->addresses(); }
  void connect(const std::vector<std::string> &addresses) override;
  std::unique_ptr<Buffer> buffer(void *memory, size_t size) override;

  /// `post` says what; as much of it as goes at once is sent by the calling thread.
  void post(int64_t peer, const std::function<void(Link &)> &post);
  void forget(const Progress &progress);

private:
  void run();
  void wake() const {
    uint64_t one = 1;
    [[maybe_unused]] ssize_t written = write(waker, &one, sizeof one);
  }

  std::unique_ptr<Connector> connector; ///< until all are connected
  const int waker;
  FairMutex mutex;                          ///< of all below
  std::vector<std::unique_ptr<Link>> links; ///< by rank, null at this one's; all set by connect()
  bool isEnding = false;
  std::thread thread;
};

class SecureBuffer : public Buffer {
public:
  SecureBuffer(SecureLinks &links, void *memory, size_t size)
      : links(links), bytes(static_cast<std::byte *>(memory), size) {}
  ~SecureBuffer() override {
    if (progress.isUnderWay())
      links.forget(progress);
  }

  void send(int64_t peer, uint64_t tag) override {
    links.post(peer, [&](Link &link) { link.send(progress, bytes, tag); });
  }
  void receive(int64_t peer, uint64_t tag) override {
    links.post(peer, [&](Link &link) { link.receive(progress, bytes, tag); });
  }
  bool waitSent() override { return progress.wait(Progress::sending); }
  bool waitReceived() override { return progress.wait(Progress::receiving); }
  void stop() override { progress.stop(); }

private:
  SecureLinks &links;
  const std::span<std::byte> bytes;
  Progress progress;
};

void SecureLinks::connect(const std::vector<std::string> &addresses) {
  for (std::unique_ptr<Wire> &wire : connector->connect(addresses))
    links.push_back(wire ? std::make_unique<Link>(std::move(wire)) : nullptr);
  connector.reset();
  // Signals are for the thread that trains.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::unique_ptr<Buffer> SecureLinks::buffer(void *memory, size_t size) {
  return std::make_unique<SecureBuffer>(*this, memory, size);
}

void SecureLinks::post(int64_t peer, const std::function<void(Link &)> &post) {
  bool isLeft = false;
  {
    std::lock_guard lock(mutex);
    Link &link = *links[size_t(peer)];
    bool wasOpen = link.isOpen();
    try {
      post(link);
      link.write();
    } catch (const std::exception &error) { // there is no memory
      link.breakOff(error.what());
      wake();
      throw;
    }
    isLeft = link.isSending() || link.isOpen() != wasOpen;
  }
  if (isLeft)
    wake();
}

void SecureLinks::forget(const Progress &progress) {
  std::lock_guard lock(mutex);
  for (auto &link : links)
    if (link)
      link->forget(progress);
}

void SecureLinks::run() {
  // The first turn reads: what came with the end of connecting is not on the socket any more.
  std::vector<pollfd> files(links.size() + 1, {-1, 0, POLLIN});
  files.back() = {waker, POLLIN, 0};
  while (true) {
    if (files.back().revents) {
      uint64_t count;
      [[maybe_unused]] ssize_t got = read(waker, &count, sizeof count);
    }
    {
      std::lock_guard lock(mutex);
      if (isEnding)
        return;
    }
    for (size_t peer = 0; peer < links.size(); ++peer) {
      if (!links[peer])
        continue;
      std::lock_guard lock(mutex); // of each by itself, for who posts meanwhile
      Link &link = *links[peer];
      try {
        if (files[peer].revents & ~POLLOUT)
          link.read();
        link.write();
      } catch (const std::exception &error) { // there is no memory
        link.breakOff(error.what());
      }
      files[peer] = link.awaited();
    }
    poll(files.data(), files.size(), -1);
  }
}

} // namespace

std::unique_ptr<Links> makeSecureLinks(const Links::Settings &settings) {
  return std::make_unique<SecureLinks>(settings);
}

} // namespace weir::collectives
