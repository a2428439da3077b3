//===- Timing.h - Estimated times of a plan's actions ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_COLLECTIVES_TIMING_H
#define WEIR_PASSES_COLLECTIVES_TIMING_H

#include "codegen/Target.h"
#include "support/mesh/MachineRates.h"
#include "support/planned/Simulate.h"

namespace weir {

/// Estimated times of actions on a device, except loops and the actions that order queues.
class Prices {
public:
  virtual ~Prices() = default;
  /// Seconds; for a send, until the data has arrived.
  virtual double secondsOf(plan::Action action, mlir::SymbolTableCollection &symbols) = 0;
  /// Whether the device computes during communication.
  virtual bool overlaps(plan::Action) { return true; }
};

/// Seconds on a target's device and a link.
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
  /// `prices` must outlive it.
  explicit Timing(Prices &prices) : prices(prices) {}

  /// The seconds of one action; of a loop, all rounds of its body.
  double secondsOf(mlir::Operation *action);

  /// The actions of a block.
  std::vector<planned::TimedAction> timed(mlir::Block &block);

private:
  Prices &prices;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Value, uint32_t> events;
};

/// Whether it is a copy from or to the host's memory.
bool isFromOrToHost(plan::Action action);

/// Bytes that a rank sends to others in a collective, and receives from them.
std::pair<uint64_t, uint64_t> bytesMoved(plan::CollectiveOp collective);

} // namespace weir

#endif
