//===- Finite.h - What must not get into a checkpoint ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step whose update is not finite changes nothing, so variables become infinite or NaN only by a
// fault, of a kernel or of the memory. Such values are never saved: they would push the checkpoints
// that can still be used out of the directory. What was given so, by --init or a checkpoint, may
// stay as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_FINITE_H
#define WEIR_RUNTIME_RUN_FINITE_H

#include "runtime/core/Program.h"
#include <optional>
#include <set>

namespace weir {

class Finite {
public:
  /// What of `variables` is not finite now is given. The first such value in words, or nothing.
  std::optional<std::string> begin(const std::vector<TensorView> &variables);

  /// The first value that is not finite in a tensor that was when it began: "'w' is nan at [3, 4]".
  std::optional<std::string> broken(const std::vector<TensorView> &variables) const;

private:
  std::set<std::string> given;
};

} // namespace weir

#endif
