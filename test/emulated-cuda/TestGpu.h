//===- TestGpu.h - The stand-ins as a test sees them --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries are opened by path, as Weir opens them; nothing of them is linked.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_TESTGPU_H
#define WEIR_TEST_EMULATED_CUDA_TESTGPU_H

#include "test/emulated-cuda/Private.h"
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace weir::cuda {

#define WEIR_EMULATED_MEMBER(type, name, arguments) type(*name) arguments = nullptr;
struct Api {
  WEIR_CUDA_DRIVER(WEIR_EMULATED_MEMBER)
  WEIR_CUDA_NVRTC(WEIR_EMULATED_MEMBER)
  WEIR_CUDA_CUBLASLT(WEIR_EMULATED_MEMBER)
  WEIR_CUDA_NCCL(WEIR_EMULATED_MEMBER)
  decltype(&weirEmulatedReset) reset = nullptr;
  decltype(&weirEmulatedFaults) faults = nullptr;
};
#undef WEIR_EMULATED_MEMBER

/// Opened once.
const Api &api();

/// Arguments of a launch, by value.
class Arguments {
public:
  template <typename... T> explicit Arguments(T... values) { (add(values), ...); }
  void **pointers() {
    list.clear();
    for (std::vector<char> &value : values)
      list.push_back(value.data());
    return list.data();
  }

private:
  template <typename T> void add(T value) {
    auto *bytes = reinterpret_cast<char *>(&value);
    values.emplace_back(bytes, bytes + sizeof value);
  }
  std::vector<std::vector<char>> values;
  std::vector<void *> list;
};

/// A fresh emulated GPU, with a kernel's text compiled by the stand-in for NVRTC.
class Gpu {
public:
  explicit Gpu(uint64_t seed = 0, bool checked = true);

  /// Of a program that has one.
  CUfunction kernel(const std::string &text, const char *name = "kernel_0");

  CUdeviceptr memory(size_t bytes);
  template <typename T>
  CUdeviceptr holding(const std::vector<T> &values, CUstream stream = nullptr) {
    CUdeviceptr address = memory(values.size() * sizeof(T));
    // Waited for, since the values may go.
    EXPECT_EQ(api().cuMemcpyHtoDAsync_v2(address, values.data(), values.size() * sizeof(T), stream),
              CUDA_SUCCESS);
    EXPECT_EQ(api().cuStreamSynchronize(stream), CUDA_SUCCESS);
    return address;
  }
  /// After all that was submitted.
  template <typename T> std::vector<T> read(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(api().cuCtxSynchronize(), CUDA_SUCCESS) << faults();
    EXPECT_EQ(api().cuMemcpyDtoHAsync_v2(values.data(), address, count * sizeof(T), nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(api().cuCtxSynchronize(), CUDA_SUCCESS) << faults();
    return values;
  }
  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING);
  CUevent event();

  CUresult launch(CUfunction function, unsigned blocks, unsigned threads, Arguments arguments,
                  unsigned sharedBytes = 0, CUstream stream = nullptr);
  CUresult synchronize() { return api().cuCtxSynchronize(); }
  std::string faults() { return api().faults(); }
};

/// A loop over the seeds of a checked run, and plain runs forward and drawn.
template <typename Body> void forEachSeed(unsigned count, Body body) {
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    body(seed);
    if (testing::Test::HasFailure())
      return;
  }
}

/// 0, 1, 2, ... times `step`.
std::vector<float> ramp(size_t count, float step = 1);

} // namespace weir::cuda

#endif
