//===- Timing.h - What a plan's actions take ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SCHEDULE_TIMING_H
#define WEIR_PASSES_SCHEDULE_TIMING_H

#include "codegen/Target.h"
#include "runtime/base/Link.h"
#include "runtime/planned/Simulate.h"

namespace weir {

/// Seconds of a target's device and of a link.
class Timing {
public:
  Timing(const Target &target, const Link &link) : target(target), link(link) {}

  /// Of an action, by itself; of a loop, all rounds of all that is in it.
  double secondsOf(mlir::Operation *action);

  /// The actions of a block.
  std::vector<planned::TimedAction> timed(mlir::Block &block);

private:
  const Target &target;
  const Link link;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Value, uint32_t> events;
};

/// What a rank sends to others in a collective, and gets of them.
std::pair<uint64_t, uint64_t> bytesMoved(plan::CollectiveOp collective);

} // namespace weir

#endif
