//===- OpenDevice.h - Opens the device of a command -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_OPENDEVICE_H
#define WEIR_RUNTIME_RUN_OPENDEVICE_H

#include "runtime/core/Device.h"

namespace weir {

/// Opens a device as makeDevice (runtime/devices/Devices.h) does, and warns about options that have
/// no effect.
std::unique_ptr<Device> openDevice(const artifact::Program &program, const DeviceOptions &options);

} // namespace weir

#endif
