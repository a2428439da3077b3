//===- Tune.h - weir tune -------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the kernels of an artifact on the device, each with every schedule that its knobs
// allow (codegen/Tuning.h), one knob after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_TUNE_H
#define WEIR_TOOLS_WEIR_COMMANDS_TUNE_H

#include <cstddef>
#include <string>
#include <vector>

namespace weir {

/// The text of a tuning file. `device` is a DeviceOptions::kind. Says on standard error how far it
/// is, and what was gained. Throws Failure: Exit::usage where the artifact's target leaves nothing
/// to choose, Exit::model where its plan cannot be read, and what the device throws.
std::string tuneArtifact(const std::vector<std::byte> &artifact, const std::string &device);

} // namespace weir

#endif
