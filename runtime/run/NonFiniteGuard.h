//===- NonFiniteGuard.h - Keeps non-finite values out of checkpoints ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step whose update is not finite is skipped, so variables become infinite or NaN only by a fault
// of a kernel or of the memory. Such values are never saved: the new checkpoint would push usable
// ones out of the directory. A value that was not finite in --init or in the checkpoint that the
// run started from may stay as it is.
//
// If ranks are processes, each rank checks the values that it saves, and all ranks get the same
// result: they call these functions together.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_NONFINITEGUARD_H
#define WEIR_RUNTIME_RUN_NONFINITEGUARD_H

#include "runtime/core/Group.h"
#include "runtime/core/Program.h"
#include <optional>
#include <set>
#include <string_view>

namespace weir {

/// The names of the variables that the entry of that name writes on any rank.
std::set<std::string> writtenVariables(const artifact::Program &program, std::string_view entry);

/// "the largest finite value is 1e+20, in 'w' at [3, 4]". If an update overflows, its inputs are
/// usually close to the limit.
std::string largestValue(const std::vector<TensorView> &variables, Group *group);

class NonFiniteGuard {
public:
  /// `group` is null if this process is alone; it must outlive this.
  explicit NonFiniteGuard(Group *group) : group(group) {}

  /// As text, the first non-finite value in a variable that no step writes, and in the others.
  struct Given {
    std::optional<std::string> kept, updated;
  };

  /// Variables of `variables` that are not finite now count as given. `written` are the names that
  /// steps write.
  Given begin(const std::vector<TensorView> &variables, const std::set<std::string> &written);

  /// The first non-finite value in a variable that was finite when the run began: "'w' is nan at
  /// [3, 4]".
  std::optional<std::string> broken(const std::vector<TensorView> &variables) const;

private:
  Group *const group;
  std::set<std::string> given;
};

} // namespace weir

#endif
