//===- CudaDevice.h - A GPU as a device -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One arena in the device's memory. What an entry does is captured once as a CUDA graph; a run of
// it is one launch. Where every action is to be seen (an observer, a trace), or
// DeviceOptions::graph is off, the actions are launched one by one, in the same order, with the
// same bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_CUDADEVICE_H
#define WEIR_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/core/Device.h"
#include <string_view>

namespace weir::cuda {

/// Whether it is "cuda" or begins with "cuda:".
bool serves(std::string_view target);

inline constexpr std::string_view targets = "cuda, cuda:sm_80, cuda:sm_90 or cuda:sm_100";

/// A MakeDevice: the first GPU that the driver shows.
std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options);

/// The same on the stand-ins for CUDA's libraries that the tests bring (test/emulated-cuda): in the
/// folder that WEIR_EMULATED_CUDA names, or lib/emulated-cuda beside the folder of the program that
/// runs.
std::unique_ptr<Device> makeEmulated(const artifact::Program &program,
                                     const DeviceOptions &options);

/// That folder. Throws Failure{Exit::device} where it is missing.
std::string emulatedFolder();

/// Whether the program's code is whole. Throws as codeOf() does.
void checkCode(const artifact::Program &program);

} // namespace weir::cuda

#endif
