//===- NullDevice.h - A device without arithmetic -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does all that a device does but compute: it keeps an arena, walks over the actions, turns loops
// and copies bytes; a kernel or a library call leaves its results as they are. Programs of every
// target run on it. It shows what the runtime alone takes, and what of a program depends on its
// numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_NULL_NULLDEVICE_H
#define WEIR_RUNTIME_NULL_NULLDEVICE_H

#include "runtime/core/Device.h"

namespace weir::null {

/// A MakeDevice.
std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options);

} // namespace weir::null

#endif
