//===- Compiler.cpp - CUDA C++ to machine code, with a cache ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "runtime/base/Error.h"
#include "runtime/base/NewFile.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir::cuda {
namespace {

constexpr size_t mostThreads = 8;

/// At the head of a cached file: the hash of its name and of what follows.
struct Mark {
  char magic[8];
  uint64_t hash;
};
constexpr char magic[8] = {'w', 'e', 'i', 'r', 'c', 'u', 'b', '2'};

std::string cacheFolder() {
  auto named = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = named("WEIR_KERNEL_CACHE"); !folder.empty())
    return folder;
  // One that is relative is to be ignored (XDG Base Directory Specification).
  if (std::string folder = named("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/weir/kernels";
  std::string home = named("HOME");
  return home.empty() ? "" : home + "/.cache/weir/kernels";
}

uint64_t hashOf(const std::string &path, const Compiler::Cubin &code) {
  std::string name = std::filesystem::path(path).filename().string();
  return XXH3_64bits_withSeed(code.data(), code.size(), XXH3_64bits(name.data(), name.size()));
}

/// Whether nobody but this user may have written it.
bool isOwn(const struct stat &status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Whether the folder is there, made if need be, and this user's alone. A folder that is this
/// user's, and that others may write to since the umask let them, is closed to them. Another
/// user's is told of.
bool isOwnFolder(const std::string &folder) {
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), none);
  mkdir(folder.c_str(), S_IRWXU);
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return false;
  if (status.st_uid == geteuid() && !isOwn(status) &&
      chmod(folder.c_str(), status.st_mode & ~mode_t(S_IWGRP | S_IWOTH) & 07777) == 0 &&
      stat(folder.c_str(), &status) != 0)
    return false;
  if (isOwn(status))
    return true;
  static std::atomic<bool> isTold = false; // each rank's device has a compiler
  if (isTold.exchange(true))
    return false;
  std::cerr << "warning: the cache of kernels, " << folder << ", is not used: "
            << (status.st_uid == geteuid()
                    ? "other users may write to it"
                    : "it belongs to another user (uid " + std::to_string(status.st_uid) + ")")
            << "; name a folder of your own in WEIR_KERNEL_CACHE\n";
  return false;
}

/// What it has, where it is a regular file that this user alone may write to; no link is followed,
/// and nothing that is no file is opened for long.
std::optional<std::string> readOwn(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return std::nullopt;
  std::optional<std::string> text;
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && isOwn(status)) {
    text.emplace(size_t(status.st_size), '\0');
    size_t at = 0;
    for (ssize_t got = 1; got > 0 && at < text->size(); at += size_t(std::max<ssize_t>(got, 0)))
      got = read(file, text->data() + at, text->size() - at);
    text->resize(at);
  }
  close(file);
  return text;
}

std::optional<Compiler::Cubin> readCached(const std::string &path) {
  std::optional<std::string> text = readOwn(path);
  Mark mark;
  if (!text || text->size() <= sizeof mark)
    return std::nullopt;
  std::memcpy(&mark, text->data(), sizeof mark);
  Compiler::Cubin code(text->begin() + sizeof mark, text->end());
  if (std::memcmp(mark.magic, magic, sizeof magic) != 0 || hashOf(path, code) != mark.hash)
    return std::nullopt;
  return code;
}

void writeCached(const std::string &path, const Compiler::Cubin &code) {
  // What is no file, such as a FIFO, is left alone.
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return;
  try {
    Mark mark;
    std::memcpy(mark.magic, magic, sizeof magic);
    mark.hash = hashOf(path, code);
    NewFile file(path, S_IRUSR | S_IWUSR);
    file.write(reinterpret_cast<const std::byte *>(&mark), sizeof mark);
    file.write(reinterpret_cast<const std::byte *>(code.data()), code.size());
    file.finish();
  } catch (const std::exception &) {
    // The next process compiles it again.
  }
}

/// Where a kernel begins behind comments, which say where in a model it is from.
size_t behindComments(const std::string &source) {
  size_t at = 0;
  while (source.compare(at, 2, "//") == 0)
    at = std::min(source.find('\n', at), source.size() - 1) + 1;
  return at;
}

/// Of what is no fault in a kernel.
const char *remedyOf(nvrtcResult result) {
  switch (result) {
  case NVRTC_ERROR_OUT_OF_MEMORY:
    return "free memory of the host";
  case NVRTC_ERROR_INVALID_OPTION:
    return "a newer CUDA toolkit knows this architecture";
  case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
    return "libnvrtc-builtins belongs beside libnvrtc, and memory must be left to load it";
  default:
    return "is the CUDA toolkit whole?";
  }
}

} // namespace

Compiler::Compiler(const Nvrtc &nvrtc, int architecture, std::vector<Header> headers,
                   const std::string &place, From from)
    : nvrtc(nvrtc), from(from), headers(std::move(headers)),
      // Products are fused where the code says so alone; subnormal numbers are zero, as on a CPU.
      options({"--gpu-architecture=sm_" + std::to_string(architecture), "--std=c++17",
               "--fmad=false", "--ftz=true"}),
      cache(cacheFolder()) {
  if (!cache.empty() && !isOwnFolder(cache))
    cache.clear();
  int major = 0, minor = 0;
  nvrtc.nvrtcVersion(&major, &minor);
  salt = place + "\n" + std::to_string(major) + "." + std::to_string(minor);
  for (const std::string &option : options)
    salt += "\n" + option;
}

std::vector<const Header *> Compiler::includedBy(const std::string &source) const {
  std::vector<const Header *> found;
  const std::string *text = &source;
  for (size_t next = 0;; text = &found[next++]->text) {
    for (const Header &header : headers)
      if (text->find("#include \"" + header.name + "\"") != std::string::npos &&
          std::ranges::find(found, &header) == found.end())
        found.push_back(&header);
    if (next == found.size())
      return found;
  }
}

std::string Compiler::placeOf(const std::string &source) const {
  std::string all = salt;
  auto add = [&](std::string_view text) {
    (all += "\n" + std::to_string(text.size()) + "\n") += text;
  };
  for (const Header *header : includedBy(source)) {
    add(header->name);
    add(header->text);
  }
  add(std::string_view(source).substr(behindComments(source)));
  XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return cache + "/" + name + ".cubin";
}

Compiler::Cubin Compiler::compileOne(const std::string &source) {
  std::vector<const char *> texts, names, words;
  for (const Header &header : headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  for (const std::string &option : options)
    words.push_back(option.c_str());
  nvrtcProgram program = nullptr;
  auto require = [&](nvrtcResult result, const std::string &log) {
    if (result == NVRTC_SUCCESS)
      return;
    std::string why = std::string("NVRTC does not compile a kernel (") +
                      nvrtc.nvrtcGetErrorString(result) + "): ";
    if (result == NVRTC_ERROR_COMPILATION && from == From::artifact)
      throw Failure(Exit::model,
                    why +
                        "the artifact is damaged, or its text is not what this NVRTC takes: "
                        "compile the model again, and report it if that does not help\n" +
                        log);
    if (result == NVRTC_ERROR_COMPILATION)
      throw Failure(Exit::internal,
                    why + "a fault of Weir's own, please report it with the model\n" + log);
    throw Failure(Exit::device, why + remedyOf(result) + (log.empty() ? "" : "\n" + log));
  };
  require(nvrtc.nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", int(headers.size()),
                                   texts.data(), names.data()),
          "");
  nvrtcResult result = nvrtc.nvrtcCompileProgram(program, int(words.size()), words.data());
  size_t size = 0;
  std::string log;
  if (nvrtc.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
    log.resize(size);
    nvrtc.nvrtcGetProgramLog(program, log.data());
    log.pop_back(); // the end of a C string
  }
  Cubin code;
  if (result == NVRTC_SUCCESS)
    result = nvrtc.nvrtcGetCUBINSize(program, &size);
  if (result == NVRTC_SUCCESS) {
    code.resize(size);
    result = nvrtc.nvrtcGetCUBIN(program, code.data());
  }
  nvrtc.nvrtcDestroyProgram(&program);
  require(result, log);
  return code;
}

Compiler::Cubin Compiler::obtain(const std::string &source) {
  std::string place = cache.empty() ? "" : placeOf(source);
  if (!place.empty())
    if (std::optional<Cubin> known = readCached(place))
      return std::move(*known);
  Cubin code = compileOne(source);
  if (!place.empty())
    writeCached(place, code);
  return code;
}

std::vector<Compiler::Cubin> Compiler::compile(std::span<const std::string> sources) {
  std::vector<Cubin> results(sources.size());
  std::vector<std::exception_ptr> failures(sources.size());
  // Those that differ in their comments alone are compiled once.
  std::map<std::string_view, std::vector<size_t>> equal;
  for (size_t i = 0; i < sources.size(); ++i)
    equal[std::string_view(sources[i]).substr(behindComments(sources[i]))].push_back(i);
  std::vector<const std::vector<size_t> *> groups;
  for (const auto &[text, numbers] : equal)
    groups.push_back(&numbers);
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < groups.size();)
      try {
        Cubin made = obtain(sources[groups[i]->front()]);
        for (size_t number : *groups[i])
          results[number] = made;
      } catch (...) {
        failures[groups[i]->front()] = std::current_exception();
      }
  };
  std::vector<std::thread> threads;
  size_t wanted = std::min(
      {mostThreads, size_t(std::max(1u, std::thread::hardware_concurrency())), groups.size()});
  try {
    for (size_t i = 1; i < wanted; ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // Those there are do it all.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  return results;
}

CompileResult compileUnits(int architecture, std::vector<Header> headers,
                           std::span<const std::string> sources) {
  try {
    // Any driver: it is another machine's.
    const Nvrtc &nvrtc = openNvrtc(
        "", 13, "compile with --target cuda, whose kernels are compiled when it is loaded");
    Compiler compiler(nvrtc, architecture, std::move(headers), "", Compiler::From::here);
    return {compiler.compile(sources), ""};
  } catch (const Failure &failure) {
    return {{}, failure.what(), failure.exit};
  } catch (const std::exception &failure) {
    return {{}, failure.what(), Exit::device};
  }
}

} // namespace weir::cuda
