//===- Timing.h - Estimated times of a plan's actions ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_COLLECTIVES_TIMING_H
#define WEIR_PASSES_COLLECTIVES_TIMING_H

#include "codegen/Target.h"
#include "runtime/base/MachineRates.h"
#include "runtime/planned/Simulate.h"

namespace weir {

/// What actions take on some device: not loops, and not what orders queues.
class Prices {
public:
  virtual ~Prices() = default;
  /// Seconds; of a send, until it has come.
  virtual double secondsOf(plan::Action action, mlir::SymbolTableCollection &symbols) = 0;
  /// Whether the device computes on while it exchanges something.
  virtual bool overlaps(plan::Action) { return true; }
};

/// Seconds of a target's device and of a link.
class TargetPrices : public Prices {
public:
  TargetPrices(const Target &target, const Link &link) : target(target), link(link) {}
  double secondsOf(plan::Action action, mlir::SymbolTableCollection &symbols) override;

private:
  const Target &target;
  const Link link;
};

class Timing {
public:
  /// `prices` outlives it.
  explicit Timing(Prices &prices) : prices(prices) {}

  /// Of an action, by itself; of a loop, all rounds of all that is in it.
  double secondsOf(mlir::Operation *action);

  /// The actions of a block.
  std::vector<planned::TimedAction> timed(mlir::Block &block);

private:
  Prices &prices;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Value, uint32_t> events;
};

/// Whether it is a copy that one end of lies in the host's memory.
bool isFromOrToHost(plan::Action action);

/// What a rank sends to others in a collective, and gets of them.
std::pair<uint64_t, uint64_t> bytesMoved(plan::CollectiveOp collective);

} // namespace weir

#endif
