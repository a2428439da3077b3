//===- Witness.h - What one action read and wrote, in words ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks on while a step runs that Flow has followed, and takes the statistics of what the origin
// reads and writes: most of it is gone when the step is over.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_ORIGIN_WITNESS_H
#define WEIR_RUNTIME_ORIGIN_WITNESS_H

#include "runtime/origin/Flow.h"
#include "runtime/origin/OpFinder.h"

namespace weir {

/// A tensor and what was in it.
struct Seen {
  Touched tensor;
  Statistics statistics;
};

class Witness : public Observer {
public:
  /// Observes `program` as long as it lives, and looks at what happens at `at`, the first launch of
  /// a kernel with several. `finder` may be null. All outlive it.
  Witness(Program &program, const Actions &actions, const ActionPlace &at, OpFinder *finder);
  ~Witness() override;
  Witness(const Witness &) = delete;

  const std::vector<Seen> &read() const { return reads; }
  const std::vector<Seen> &written() const { return writes; }
  const std::optional<FoundOp> &op() const { return found; }

  void before(const ActionPlace &place) override;
  void after(const ActionPlace &place) override;

private:
  std::vector<Seen> look(const ActionPlace &place, bool (*which)(spec::Mode)) const;

  Program &program;
  const Actions &actions;
  const ActionPlace at;
  OpFinder *finder;
  bool running = false;
  std::vector<Seen> reads, writes;
  std::optional<FoundOp> found;
};

/// What there is to say of the flow's origin of that number, which was there before the step; the
/// first line goes on after "the first value that is not finite".
std::vector<std::string> tellGiven(const Flow &flow, size_t source);
/// The same of an origin that was made, as the witness has seen it.
std::vector<std::string> tellMade(const Flow &flow, size_t source, const Witness &witness);

} // namespace weir

#endif
