//===- KernelHarness.cpp - Compiles and runs one kernel in a test ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cpu/KernelHarness.h"
#include "codegen/NamedKernel.h"
#include "codegen/targets/Targets.h"
#include "ir/weir/kernel/Kernel.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <random>
#include <time.h>
#include <unistd.h>

using namespace mlir;

namespace weir {

constexpr size_t guardBytes = 64;
constexpr unsigned char guard = 0xA5;

Bytes::Bytes(size_t size) : bytes(size) {
  size_t whole = (size + guardBytes + 63) / 64 * 64;
  storage = std::shared_ptr<void>(std::aligned_alloc(64, whole), std::free);
  std::memset(storage.get(), guard, whole);
}

bool Bytes::intact() const {
  const unsigned char *end = as<unsigned char>() + bytes;
  return std::all_of(end, end + guardBytes, [](unsigned char byte) { return byte == guard; });
}

struct CompiledKernel::State {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
  void *library = nullptr;
  std::vector<std::pair<void (*)(void *const *, int64_t, int64_t, void *), int64_t>> launches;
  std::optional<Bytes> workspace;
  std::shared_ptr<void> scratch;

  void launch(const std::vector<void *> &operands, int pieces) {
    for (auto [function, tasks] : launches)
      for (int piece = pieces; piece-- > 0;) {
        int64_t lo = tasks * piece / pieces, hi = tasks * (piece + 1) / pieces;
        if (lo < hi)
          function(operands.data(), lo, hi, scratch.get());
      }
  }
  std::vector<void *> operands(const std::vector<Bytes> &inputs, std::vector<Bytes> &results) {
    std::vector<void *> operands;
    for (const Bytes &input : inputs)
      operands.push_back(input.data());
    for (Value result : kernel.getResults()) {
      results.emplace_back(storageBytes(result.getType()));
      operands.push_back(results.back().data());
    }
    if (workspace)
      operands.push_back(workspace->data());
    return operands;
  }
};

CompiledKernel::CompiledKernel(const std::string &text, const std::string &targetName, size_t which)
    : state(std::make_unique<State>()) {
  DialectRegistry registry;
  registry.insert<WeirDialect>();
  registerTargetDialects(registry);
  state->context.appendDialectRegistry(registry);
  state->context.loadAllAvailableDialects();
  state->module = parseSourceString<ModuleOp>(text, &state->context);
  if (!state->module)
    return;
  std::vector<NamedKernel> kernels;
  state->module->walk([&](KernelOp kernel) {
    kernels.push_back({kernel, "kernel_" + std::to_string(kernels.size())});
  });
  state->kernel = kernels.at(which).op;
  std::unique_ptr<Target> target = makeTarget(targetName);
  if (!target)
    return;
  auto planned = target->planKernel(state->kernel);
  if (failed(planned))
    return;
  plan = *planned;
  auto dump = [&](StringRef phase, ModuleOp module, StringRef) {
    if (phase == "emitted")
      emitted = llvm::range_size(module.getOps<func::FuncOp>());
    if (const char *wanted = std::getenv("WEIR_DUMP"))
      if (phase == wanted)
        module.dump();
  };
  auto code = target->compile(kernels, dump);
  if (failed(code))
    return;
  codeBytes = code->size();
  std::string path = "/tmp/weir-kernel-XXXXXX";
  int file = mkstemp(path.data());
  bool written = write(file, code->data(), code->size()) == ssize_t(code->size());
  close(file);
  if (written)
    state->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (const char *kept = std::getenv("WEIR_KEEP"))
    rename(path.c_str(), kept);
  else
    unlink(path.c_str());
  if (!state->library)
    return;
  for (const LaunchPlan &launch : plan.launches) {
    void *symbol = dlsym(state->library, (kernels[which].symbol + launch.suffix).c_str());
    if (!symbol)
      return;
    state->launches.push_back(
        {reinterpret_cast<void (*)(void *const *, int64_t, int64_t, void *)>(symbol),
         launch.tasks});
  }
  if (plan.workspace)
    state->workspace.emplace(plan.workspace);
  state->scratch =
      Bytes(plan.threadScratch + 64).data()
          ? std::shared_ptr<void>(std::aligned_alloc(64, (plan.threadScratch + 127) / 64 * 64),
                                  std::free)
          : nullptr;
  valid = true;
}

CompiledKernel::~CompiledKernel() {
  if (state->library)
    dlclose(state->library);
}

std::vector<Bytes> CompiledKernel::run(const std::vector<Bytes> &inputs, int pieces) {
  std::vector<Bytes> results;
  state->launch(state->operands(inputs, results), pieces);
  return results;
}

std::vector<Bytes> CompiledKernel::randomInputs() {
  std::vector<Bytes> inputs;
  for (Value input : state->kernel.getInputs()) {
    auto type = tensorType(input);
    if (type.getElementType().isF32())
      inputs.emplace_back(randomFloats(type.getNumElements(), inputs.size()));
    else
      inputs.emplace_back(randomInts(type.getNumElements(), inputs.size(), 40));
  }
  return inputs;
}

/// Time on a processor, not on the wall: other programs may be running.
static double threadNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

double CompiledKernel::time(const std::vector<Bytes> &inputs) {
  std::vector<Bytes> results;
  auto operands = state->operands(inputs, results);
  std::vector<double> samples;
  for (int sample = 0; sample < 15; ++sample) {
    int runs = 0;
    double start = threadNanoseconds(), elapsed = 0;
    while (elapsed < 1e6) {
      state->launch(operands, 1);
      ++runs;
      elapsed = threadNanoseconds() - start;
    }
    samples.push_back(elapsed / runs);
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

std::vector<float> randomFloats(size_t count, unsigned seed, float low, float high) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

std::vector<int32_t> randomInts(size_t count, unsigned seed, int32_t limit) {
  std::mt19937 generator(seed);
  std::vector<int32_t> values(count);
  for (int32_t &value : values)
    value = int32_t(generator() % uint32_t(limit));
  return values;
}

double difference(const float *actual, const std::vector<double> &expected) {
  double largest = 0, worst = 0;
  for (double value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    double off = std::abs(double(actual[i]) - expected[i]);
    if (std::isnan(actual[i]) != std::isnan(expected[i]))
      return INFINITY;
    if (off > worst)
      worst = off;
  }
  return largest > 0 ? worst / largest : worst;
}

} // namespace weir
