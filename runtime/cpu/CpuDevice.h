//===- CpuDevice.h - The processor as a device ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One arena, one pool of threads; the caller's thread walks over the actions, whose tasks the pool
// shares. It is synchronous: what is asked is done when the call returns.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_CPUDEVICE_H
#define WEIR_RUNTIME_CPU_CPUDEVICE_H

#include "runtime/core/Device.h"
#include <string_view>

namespace weir::cpu {

/// Whether a program of that target is for a processor of the x86-64 family.
bool serves(std::string_view target);

/// What programs for it are compiled for, for messages.
constexpr std::string_view targets =
    "cpu, cpu:x86-64-v3, cpu:x86-64-v4, cpu:x86-64-v4+bf16 or cpu:x86-64-v4+bf16+amx";

/// A MakeDevice.
std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options);

/// Maps the program's machine code and looks for every kernel, which any machine can do. Throws
/// Failure: Exit::model, and Exit::device for memory.
void checkCode(const artifact::Program &program);

} // namespace weir::cpu

#endif
