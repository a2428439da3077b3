//===- InspectOptions.h - What weir inspect is asked ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_INSPECTOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_INSPECTOPTIONS_H

#include "tools/common/CommandLine.h"
#include <functional>
#include <string>

namespace weir {

/// Adds the options of `weir inspect`. What is returned says what they ask of the artifact, whose
/// path `artifact` has by then.
std::function<Exit()> addInspectOptions(CLI::App &app, const std::string &artifact);

} // namespace weir

#endif
