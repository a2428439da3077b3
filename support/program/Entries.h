//===- Entries.h - Names of a program's entries ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PROGRAM_ENTRIES_H
#define WEIR_SUPPORT_PROGRAM_ENTRIES_H

namespace weir {

/// Gives states their initial values once weights are loaded, those whose values depend on a
/// parameter; programs without such states have no such entry.
inline constexpr char statesEntry[] = "init_states";

} // namespace weir

#endif
