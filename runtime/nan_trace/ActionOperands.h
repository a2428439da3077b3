//===- ActionOperands.h - The tensors that an action reads and writes -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With what the artifact knows of them: where they lie in a round, their types and shapes, and what
// they hold in the words of the model.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_NAN_TRACE_ACTIONOPERANDS_H
#define WEIR_RUNTIME_NAN_TRACE_ACTIONOPERANDS_H

#include "runtime/core/Program.h"
#include "runtime/nan_trace/Statistics.h"
#include "support/spec/Footprint.h"

namespace weir {

/// What one run of an action touches of one operand.
struct ActionOperand {
  artifact::Ref ref; ///< the variable or buffer
  Address at;
  spec::Footprint footprint;
  /// Nothing where only bytes are known: of a copy and of a workspace.
  std::optional<Element> element;
  std::vector<int64_t> shape; ///< empty where it is not known
  bool counts = false;        ///< how many elements of others are not finite

  bool isReal() const { return element && rowOf(*element).kind == ElementKind::real; }
};

/// The actions of an entry by their numbers.
class Actions {
public:
  Actions(const artifact::Program &program, const artifact::Entry &entry);

  const artifact::Action &operator[](uint32_t number) const { return *all[number].action; }
  uint32_t size() const { return static_cast<uint32_t>(all.size()); }
  /// How often the loops around it run it in all.
  uint32_t rounds(uint32_t number) const;

  /// A kernel of several launches is one piece of work, which its first begins and its last ends.
  bool begins(uint32_t number) const;
  bool ends(uint32_t number) const;

  /// Of what the action does in that round; nothing of what does no work itself.
  std::vector<ActionOperand> operands(const ActionPlace &place) const;

  /// "action 12 of 48, launch of kernel_3, map, in round 2 of 4".
  std::string describe(const ActionPlace &place) const;
  /// The ops it computes, "log" and "sub", each with its line of the model where one is known:
  /// "log at models/m.weir:31:9".
  std::vector<std::string> ops(uint32_t number) const;
  /// Its lines of the model: "models/m.weir:31,33"; "" where none is known.
  std::string lines(uint32_t number) const;
  /// Whether it is known what all kernels' operands are: files of before this was noted do not say.
  bool knowTensors() const;
  /// "the input 'x'", "the parameter 'line.w'", or a buffer by what it holds.
  std::string nameOf(const artifact::Ref &ref) const;

  const artifact::Program &program;
  const artifact::Entry &entry;

private:
  struct One {
    const artifact::Action *action;
    std::vector<uint32_t> loops; ///< the counts of those around it, the outermost first
  };
  void collect(const flatbuffers::Vector<flatbuffers::Offset<artifact::Action>> &actions,
               const std::vector<uint32_t> &loops);

  std::vector<One> all;
};

/// Of the elements as they are in the arena now, which are real numbers.
Statistics measure(const Program &program, const ActionOperand &tensor);
/// Of all elements of a type that lie there without gaps.
Statistics measure(const Program &program, Address at, Element element, uint64_t count);

} // namespace weir

#endif
