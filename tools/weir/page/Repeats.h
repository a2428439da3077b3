//===- Repeats.h - What an entry computes twice ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_REPEATS_H
#define WEIR_TOOLS_WEIR_PAGE_REPEATS_H

#include "artifact/Artifact_generated.h"
#include <vector>

namespace weir {

constexpr int noRepeat = -1;

/// For each action of the entry, by its number, the first one that computes the same: the same
/// kernel or call, of operands that hold the same values. noRepeat for all others. No file says
/// which kernels are run again to save memory; it follows from what the actions read and write.
///
/// Values are numbered: what an action stores has a number for that action's work on the numbers
/// of what it reads. In a loop what the body writes has no number of before, for it is another one
/// in each round.
///
/// `program` has been verified (artifact/Reader.h).
std::vector<int> repeatsOf(const artifact::Program &program, const artifact::Entry &entry);

} // namespace weir

#endif
