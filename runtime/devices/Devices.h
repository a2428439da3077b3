//===- Devices.h - Which devices there are --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows all kinds of devices. Everything else of the runtime has the contract
// (runtime/core/Device.h) alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DEVICES_DEVICES_H
#define WEIR_RUNTIME_DEVICES_DEVICES_H

#include "runtime/core/Device.h"
#include "support/precision/Element.h"
#include <string_view>

namespace weir {

/// A kind of device.
struct DeviceKind {
  std::string_view name; ///< "cpu"
  bool (*serves)(std::string_view target);
  std::string_view
      targets; ///< what may be compiled for it, for messages; "": it is chosen by name alone
  std::unique_ptr<Device> (*make)(const artifact::Program &program, const DeviceOptions &options);
  /// Whether the program's code is whole, which needs no such device. Throws as `make` does.
  void (*checkCode)(const artifact::Program &program);
  bool isHosts = false; ///< its memory is this machine's, and what it does is traced at no cost
  /// FLOPs per second that products of that type reach on so many threads, measured in less than
  /// 0.2 s; null where nobody has written how.
  double (*measurePeak)(Element factors, int threads) = nullptr;
};

/// Every kind. The null device serves programs of all targets.
std::span<const DeviceKind> deviceKinds();

/// The device that the options name, else the one that the program is for: a MakeDevice. Throws
/// Failure{Exit::model} where there is no such kind, Exit::usage for a name that is none.
std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options);

/// The kind of that device. Throws as it does.
const DeviceKind &deviceKind(const artifact::Program &program, const DeviceOptions &options);

/// What can be known of an artifact without running it, on any machine: the rules of its file
/// (artifact/Reader.h), what training relies on besides, and that its code is whole and has
/// every kernel. `bytes` are 16-byte aligned. Throws Failure: Exit::model, and Exit::device for
/// memory.
const artifact::Program &checkProgram(std::span<const std::byte> bytes);

} // namespace weir

#endif
