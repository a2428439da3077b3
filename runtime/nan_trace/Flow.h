//===- Flow.h - How what is not finite flows through a step ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks on while a step runs, and notes each action that writes a NaN or an infinity, and where
// what it read had one from. Afterwards the step's failure is followed back: from the outputs that
// are not finite, and from the counts of what an update would have written so, to where they begin.
//
//   - Of an action that reads a NaN, all that wrote one are followed, and no infinity.
//   - Of one that reads infinities, but no NaN, those are followed that are an accident.
//   - What reads neither is a beginning. The earliest one is the origin.
//
// An infinity is no accident, but meant, where the model says so: it is one of the constants of the
// kernel that writes it, a variable or an input has it, or the action read no others than such. So
// a mask of -inf is not blamed for a NaN that has come from elsewhere, nor is anything that did the
// step no harm, as exp(1000) in 1 / (1 + exp(1000)). Where a NaN is made of nothing but infinities
// that were meant, as by a softmax over a row that is masked as a whole, the action that makes it
// is the origin.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_NAN_TRACE_FLOW_H
#define WEIR_RUNTIME_NAN_TRACE_FLOW_H

#include "runtime/nan_trace/ActionOperands.h"
#include <functional>
#include <map>

namespace weir {

/// Where something that is not finite was first seen.
struct Origin {
  std::optional<ActionPlace> place; ///< the action that made it; nothing of what was there before
  artifact::Ref ref;                ///< of the first such tensor
  bool nan = false, accident = false;
  Statistics statistics;       ///< of what was there before
  std::vector<size_t> from;    ///< the sources that are followed, by number
  std::optional<size_t> meant; ///< where infinities that were meant came from, if not from here
};

class Flow : public Observer {
public:
  /// Looks at what is in the variables and inputs now, and observes `program` as long as it lives.
  /// `entry` is what runs next.
  Flow(Program &program, const artifact::Entry &entry);
  ~Flow() override;
  Flow(const Flow &) = delete;

  /// Called for every tensor that an action has written, where set.
  std::function<void(const ActionPlace &, const ActionOperand &, const Statistics &)> onWritten;

  /// After a run: the origin of what is not finite, by its number; nothing where no output and no
  /// update is bad.
  std::optional<size_t> origin() const;
  const Origin &source(size_t number) const { return sources[number]; }
  /// The first action that read what the source has; nothing where none did.
  std::optional<ActionPlace> readerOf(size_t number) const;

  const Actions actions;

  void before(const ActionPlace &place) override;
  void after(const ActionPlace &place) override;

private:
  /// A part of a variable or buffer in which there is something of a source.
  struct Part {
    Address begin, end;
    size_t source;
  };
  using Memory = std::pair<artifact::Memory, uint32_t>;
  struct Found {
    bool nan = false;
    std::vector<size_t> sources;
  };

  void given(const artifact::Ref &ref, const Statistics &statistics, const ActionOperand &where);
  void lookAtVariables();
  void lookAtInputs();
  void forget(const ActionOperand &tensor);
  void add(const ActionOperand &tensor, size_t source);
  std::vector<size_t> sourcesIn(const artifact::Ref &ref, Address at, uint64_t bytes) const;
  void copied(const std::vector<ActionOperand> &operands);
  bool means(const ActionPlace &place, const Statistics &written) const;

  Program &program;
  const uint32_t number; ///< of the entry
  std::map<Memory, std::vector<Part>> parts;
  std::vector<Origin> sources;        ///< in the order in which they came to be
  std::vector<size_t> counted;        ///< those with counts of what an update would have written
  std::vector<Found> reads;           ///< of the action that runs
  std::map<uint32_t, Element> pinned; ///< inputs that are copied into the arena, by their buffers
};

} // namespace weir

#endif
