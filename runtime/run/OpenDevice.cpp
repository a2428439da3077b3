//===- OpenDevice.cpp - Opens the device of a command ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/OpenDevice.h"
#include "runtime/core/HostStore.h"
#include "runtime/devices/Devices.h"
#include "runtime/report/Say.h"
#include "support/Text.h"

namespace weir {

std::unique_ptr<Device> openDevice(const artifact::Program &program, const DeviceOptions &options) {
  std::unique_ptr<Device> device = makeDevice(program, options);
  if (!options.offloadFolder.empty() && isMemory(options.offloadFolder))
    say(concat("warning: --offload-dir ", options.offloadFolder,
               ": this directory is in memory (tmpfs), so offloaded tensors use as much memory as "
               "without the option; give a directory on a disk"));
  return device;
}

} // namespace weir
