//===- Agree.h - What processes agree on ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every process of the group calls each of them at the same place.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_AGREE_H
#define WEIR_RUNTIME_COLLECTIVES_AGREE_H

#include "runtime/core/Group.h"
#include <cstddef>
#include <vector>

namespace weir::collectives {

/// What each has, in the order of ranks.
std::vector<int64_t> fromAll(Group &group, const std::string &what, int64_t own);

/// The largest that one has.
int64_t mostOf(Group &group, const std::string &what, int64_t own);

/// What rank 0 has; the others' is replaced.
void fromFirst(Group &group, const std::string &what, std::vector<std::byte> &bytes);

/// Throws Failure(Exit::usage), the same for all, where one has another than rank 0: "rank 1 has
/// another ARTIFACT than rank 0".
void requireSame(Group &group, const std::string &what, uint64_t own);

} // namespace weir::collectives

#endif
