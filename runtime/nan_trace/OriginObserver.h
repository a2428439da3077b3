//===- OriginObserver.h - What one action read and wrote, in words --------===//
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

#ifndef WEIR_RUNTIME_NAN_TRACE_ORIGINOBSERVER_H
#define WEIR_RUNTIME_NAN_TRACE_ORIGINOBSERVER_H

#include "runtime/nan_trace/Flow.h"
#include "runtime/nan_trace/OpFinder.h"

namespace weir {

/// A tensor and what was in it.
struct Seen {
  ActionOperand tensor;
  Statistics statistics;
};

class OriginObserver : public Observer {
public:
  /// Observes `program` as long as it lives, and looks at what happens at `at`, the first launch of
  /// a kernel with several. `finder` may be null. All outlive it.
  OriginObserver(Program &program, const Actions &actions, const ActionPlace &at, OpFinder *finder);
  ~OriginObserver() override;
  OriginObserver(const OriginObserver &) = delete;

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
/// The same of an origin that was made, as the observer has seen it.
std::vector<std::string> tellMade(const Flow &flow, size_t source, const OriginObserver &observer);

} // namespace weir

#endif
