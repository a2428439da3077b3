//===- KernelHarness.h - Compiles and runs one kernel in a test -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_CODEGEN_CPU_KERNELHARNESS_H
#define WEIR_TEST_CODEGEN_CPU_KERNELHARNESS_H

#include "codegen/Target.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir {

/// Bytes at a multiple of 64, with guard bytes behind them.
class Bytes {
public:
  explicit Bytes(size_t size);
  template <typename T> Bytes(const std::vector<T> &values) : Bytes(values.size() * sizeof(T)) {
    std::memcpy(data(), values.data(), size());
  }
  void *data() const { return storage.get(); }
  size_t size() const { return bytes; }
  template <typename T> T *as() const { return static_cast<T *>(data()); }
  /// Whether nothing was written behind the end.
  bool intact() const;

private:
  size_t bytes;
  std::shared_ptr<void> storage;
};

/// The kernels of a module text with functions whose bodies are a weir.kernel and a return;
/// compiled together for `target` (WEIR_DUMP=phase in the environment prints a phase's module,
/// WEIR_KEEP=path keeps the code). The one of the function `which` is run.
class CompiledKernel {
public:
  explicit CompiledKernel(const std::string &text, const std::string &target = "cpu",
                          size_t which = 0);
  ~CompiledKernel();
  CompiledKernel(const CompiledKernel &) = delete;

  /// Runs every launch, its tasks in `pieces` ranges, last range first. Results are made, filled
  /// with a pattern, unless given.
  std::vector<Bytes> run(const std::vector<Bytes> &inputs, int pieces = 1);
  /// Random floats, small integers.
  std::vector<Bytes> randomInputs();
  /// Median nanoseconds of a run.
  double time(const std::vector<Bytes> &inputs);

  KernelPlan plan;
  bool valid = false;
  size_t codeBytes = 0;
  size_t emitted = 0; ///< functions that code was generated for

private:
  struct State;
  std::unique_ptr<State> state;
};

std::vector<float> randomFloats(size_t count, unsigned seed, float low = -2, float high = 2);
std::vector<int32_t> randomInts(size_t count, unsigned seed, int32_t limit);

/// The largest difference of two vectors, relative to the largest magnitude in `expected`; infinite
/// if either has NaN alone.
double difference(const float *actual, const std::vector<double> &expected);

} // namespace weir

#endif
