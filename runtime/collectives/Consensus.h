//===- Consensus.h - What processes agree on ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every process of the group calls each of them at the same place.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_COLLECTIVES_CONSENSUS_H
#define WEIR_RUNTIME_COLLECTIVES_CONSENSUS_H

#include "runtime/core/Group.h"
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weir::collectives {

/// What each has, in the order of ranks.
std::vector<int64_t> fromAll(Group &group, const std::string &what, int64_t own);

/// The same of several numbers, of which all have as many.
std::vector<std::vector<int64_t>> listsFromAll(Group &group, const std::string &what,
                                               std::span<const int64_t> own);

/// The largest that one has.
int64_t mostOf(Group &group, const std::string &what, int64_t own);

/// What that rank has; the others' is replaced.
void fromRank(Group &group, const std::string &what, int64_t rank, std::vector<std::byte> &bytes);

/// What rank 0 has; the others' is replaced.
void fromFirst(Group &group, const std::string &what, std::vector<std::byte> &bytes);

/// The text that each has, in the order of ranks.
std::vector<std::string> textsFromAll(Group &group, const std::string &what,
                                      const std::string &own);

/// What a process was given, by the name that its user knows it by. Neither text has a null byte.
struct Given {
  std::string name;  ///< "--checkpoint-every"
  std::string value; ///< what ranks compare
  std::string words; ///< what a message says instead, where that is more; "": the value
};

/// Throws Failure(Exit::usage), the same for all, where a rank was given another value than rank 0,
/// or one was given what the other was not. The message has a line for each such name, with both
/// values. `what` is what who is there first waits in.
void requireSameGiven(Group &group, const std::string &what, const std::vector<Given> &own);

/// Throws Failure(Exit::usage), the same for all, where one has another than rank 0: "rank 1's
/// ARTIFACT differs from rank 0's". `where` is what who is there first waits in.
void requireSame(Group &group, const std::string &where, const std::string &what, uint64_t own);

/// Calls `body` on each, which exchanges nothing, and waits for all: at once where the group is
/// null. Where it throws a Failure on some, all throw that of the first of them; the others say
/// whose it is: "rank 1 reports: PATH: cannot write: No space left on device".
void allOrNone(Group *group, const std::string &what, const std::function<void()> &body);

} // namespace weir::collectives

#endif
