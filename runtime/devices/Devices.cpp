//===- Devices.cpp - Which devices there are ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/Devices.h"
#include "runtime/artifact/Actions.h"
#include "runtime/artifact/Reader.h"
#include "runtime/base/Error.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/null/NullDevice.h"

namespace weir {

std::span<const DeviceKind> deviceKinds() {
  static constexpr DeviceKind kinds[] = {
      {"cpu", cpu::serves, cpu::targets, cpu::makeDevice, cpu::checkCode},
      {"null", [](std::string_view) { return false; }, "", null::makeDevice,
       [](const artifact::Program &) {}},
  };
  return kinds;
}

static const DeviceKind &kindFor(const artifact::Program &program) {
  std::string_view target = artifact::deviceOf(program).target()->string_view();
  for (const DeviceKind &kind : deviceKinds())
    if (kind.serves(target))
      return kind;
  std::string known;
  for (const DeviceKind &kind : deviceKinds())
    if (!kind.targets.empty())
      known += (known.empty() ? "" : "; ") + std::string(kind.targets);
  throw Failure(Exit::model,
                "the target '" + std::string(target) + "' is unknown: compile for " + known);
}

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return kindFor(program).make(program, options);
}

const artifact::Program &checkProgram(std::span<const std::byte> bytes) {
  const artifact::Program &program = artifact::verify(bytes);
  artifact::verifyEvaluations(program);
  kindFor(program).checkCode(program);
  return program;
}

} // namespace weir
