//===- OpFinder.h - Which op of a kernel makes what is not finite ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime does not know what a kernel's ops do. Who has the compiler does (verify/FindOp.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_NAN_TRACE_OPFINDER_H
#define WEIR_RUNTIME_NAN_TRACE_OPFINDER_H

#include "runtime/core/Observer.h"
#include <optional>
#include <string>

namespace weir {

struct FoundOp {
  std::string op;   ///< "log"
  std::string at;   ///< "models/m.weir:31:9"; "" where no line is known
  std::string what; ///< "log of -0.25 gives nan, at [3, 1]"
};

class OpFinder {
public:
  virtual ~OpFinder() = default;
  /// Of an action that is about to run, with the arena as it is then. Nothing where it cannot be
  /// said.
  virtual std::optional<FoundOp> find(const ActionPlace &place) = 0;
};

} // namespace weir

#endif
