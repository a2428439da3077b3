//===- Compiler.cpp - CUDA C++ to machine code, with a cache ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "support/Error.h"
#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

namespace weir::cuda {
namespace {

constexpr size_t mostThreads = 8;

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
      cache("cubin") {
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

std::string Compiler::keyOf(const std::string &source) const {
  std::string all = salt;
  auto add = [&](std::string_view text) {
    (all += "\n" + std::to_string(text.size()) + "\n") += text;
  };
  for (const Header *header : includedBy(source)) {
    add(header->name);
    add(header->text);
  }
  add(std::string_view(source).substr(behindComments(source)));
  return all;
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
  std::string key = keyOf(source);
  if (std::optional<Cubin> known = cache.find(key))
    return std::move(*known);
  Cubin code = compileOne(source);
  cache.keep(key, code);
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
