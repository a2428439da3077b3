//===- Probe.h - weir probe -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_PROBE_H
#define WEIR_TOOLS_WEIR_COMMANDS_PROBE_H

#include <cstdint>
#include <string>

namespace weir {

struct ProbeOptions {
  std::string target = "cpu"; ///< for makeTarget: a processor's
  int64_t devices = 0;        ///< ranks, with a core each; 0: as many as there are cores
};

/// The text of a file for `weir plan --cluster`: this machine's cores, each a device, and what
/// they exchange through memory. Takes less than a minute, and says on standard error how far it
/// is. Throws Failure: Exit::usage for a target that is no processor's, and what devices throw.
std::string probeMachine(const ProbeOptions &options);

} // namespace weir

#endif
