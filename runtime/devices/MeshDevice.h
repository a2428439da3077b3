//===- MeshDevice.h - The ranks of a mesh as one device -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank has a device of its own and a thread that drives it, and whoever runs the program sees
// whole tensors. They lie nowhere: addresses of variables and ports are those of
// runtime/core/WholeTensors.h.
//
// All ranks are in this process (virtual devices), or one or a block of them, and the others in
// those of its group. All of these then make the same calls in the same order: each writes its own
// shares of what it is given, and reads the others' shares of what is cut, of which all get the
// whole.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DEVICES_MESHDEVICE_H
#define WEIR_RUNTIME_DEVICES_MESHDEVICE_H

#include "runtime/core/Device.h"

namespace weir {

/// Of a program with a mesh. `make` makes each rank's, on the rank's thread, all of them at once.
/// `isHosts`: their memory is this machine's, and what they do is traced at no cost. Throws as
/// `make` does.
std::unique_ptr<Device> makeMeshDevice(const artifact::Program &program,
                                       const DeviceOptions &options, const MakeDevice &make,
                                       bool isHosts = true);

} // namespace weir

#endif
