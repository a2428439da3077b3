//===- Devices.cpp - Which devices there are ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/Devices.h"
#include "artifact/Actions.h"
#include "artifact/Alternatives.h"
#include "artifact/Reader.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/Peak.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/devices/MeshDevice.h"
#include "runtime/null/NullDevice.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"

namespace weir {

std::span<const DeviceKind> deviceKinds() {
  static constexpr DeviceKind kinds[] = {
      {"cpu", cpu::serves, cpu::targets, cpu::makeDevice, cpu::checkCode, true, cpu::measurePeak},
      {"cuda", cuda::serves, cuda::targets, cuda::makeDevice, cuda::checkCode},
      {"emulated", cuda::serves, "", cuda::makeEmulated, cuda::checkCode},
      {"null", [](std::string_view) { return true; }, "", null::makeDevice,
       [](const artifact::Program &) {}, true},
  };
  return kinds;
}

static std::string targetOf(const artifact::Program &program) {
  return artifact::deviceOf(program).target()->str();
}

static const DeviceKind &kindFor(const artifact::Program &program) {
  std::string target = targetOf(program), known;
  for (const DeviceKind &kind : deviceKinds()) {
    if (kind.targets.empty())
      continue;
    if (kind.serves(target))
      return kind;
    known += (known.empty() ? "" : "; ") + std::string(kind.targets);
  }
  throw Failure(Exit::model, "unknown target '" + target + "': compile for " + known);
}

static const DeviceKind &kindNamed(const std::string &name, const artifact::Program &program) {
  std::vector<std::string> names;
  for (const DeviceKind &kind : deviceKinds()) {
    names.emplace_back(kind.name);
    if (kind.name != name)
      continue;
    if (!kind.serves(targetOf(program)))
      throw Failure(Exit::usage,
                    "--device " + name + " cannot run a program that is compiled for " +
                        targetOf(program) + ": give --device " +
                        std::string(kindFor(program).name) + " or compile with another --target");
    return kind;
  }
  throw Failure(Exit::usage, "--device " + name + " is unknown" + didYouMean(name, names));
}

const DeviceKind &deviceKind(const artifact::Program &program, const DeviceOptions &options) {
  return options.kind.empty() ? kindFor(program) : kindNamed(options.kind, program);
}

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  const DeviceKind &kind = deviceKind(program, options);
  if (!program.mesh())
    return kind.make(program, options);
  return makeMeshDevice(program, options, kind.make, kind.isHosts);
}

const artifact::Program &checkProgram(std::span<const std::byte> bytes) {
  const artifact::Program &program = artifact::verify(bytes);
  for (const artifact::Program *one : artifact::alternativesOf(program)) {
    artifact::verifyEvaluations(*one);
    kindFor(*one).checkCode(*one);
    if (one->others())
      for (const artifact::Program *other : *one->others())
        kindFor(*other).checkCode(*other);
  }
  return program;
}

} // namespace weir
