//===- CheckWritten.h - Whether the compiler's artifact can be run --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_CHECKWRITTEN_H
#define WEIR_TOOLS_WEIR_COMMANDS_CHECKWRITTEN_H

#include <cstddef>
#include <span>

namespace weir {

/// Reads an artifact's file that was just compiled as the runtime does, before anyone is told that
/// it is done. What the runtime would refuse is a fault of ours, Failure{Exit::internal}, but for a
/// model that is larger than any artifact may be, Failure{Exit::device}.
void checkWritten(std::span<const std::byte> file);

} // namespace weir

#endif
