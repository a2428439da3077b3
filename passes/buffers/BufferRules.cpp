//===- BufferRules.cpp - Which tensors of an entry share memory -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/buffers/BufferRules.h"
#include "passes/memory/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace weir::buffers {
namespace {

/// Applies the rules to the tensors of a step, action by action.
class Measure {
public:
  explicit Measure(const Step &step)
      : step(step), uses(step.tensors.size(), {INT32_MAX, -1}), buffer(step.tensors.size(), -1) {}

  Memory run(int64_t most) {
    int end = std::max<int>(int(step.actions.size()) - 1, 0);
    for (auto [i, action] : enumerate(step.actions))
      for (int tensor : concat<const int>(action.reads, action.writes))
        use(tensor, i);
    for (auto [i, tensor] : enumerate(step.tensors)) {
      if (tensor.isPort)
        use(i, end);
      if (tensor.readsVariable < 0)
        continue;
      if (size_t(tensor.readsVariable) >= oldValues.size())
        oldValues.resize(tensor.readsVariable + 1);
      oldValues[tensor.readsVariable].push_back(i);
    }
    for (auto [i, tensor] : enumerate(step.tensors)) {
      if (tensor.isInput)
        use(i, 0);
      if (tensor.madeBy < 0 && tensor.bytes && uses[i].second >= 0)
        buffer[i] = add(uses[i].first = 0, uses[i].second, tensor.bytes);
    }
    for (auto [i, action] : enumerate(step.actions))
      act(i, action);
    return place(most);
  }

private:
  /// What is used in a loop from outside is used in all its rounds.
  void use(int tensor, int at) {
    auto &[first, last] = uses[tensor];
    int from = at, to = at;
    if (int loop = step.tensors[tensor].outer; loop >= 0)
      if (auto [begin, stop] = step.loops[loop]; begin <= at && at <= stop)
        from = begin, to = stop;
    first = std::min(first, from);
    last = std::max(last, to);
  }

  int add(int first, int last, int64_t bytes) {
    lifetimes.push_back({first, last, bytes});
    return int(lifetimes.size()) - 1;
  }

  /// Whether the result may be stored where the variable's old values are.
  bool isDirect(int at, const Action &action, unsigned result) {
    int variable = step.tensors[action.writes[result]].variable;
    if (variable < 0 || !action.writesDirectly)
      return false;
    if (size_t(variable) >= oldValues.size())
      return true;
    return all_of(oldValues[variable], [&](int old) {
      if (uses[old].second < at)
        return true;
      if (uses[old].second > at || step.tensors[old].variable >= 0)
        return false;
      for (auto [i, read] : enumerate(action.reads))
        if (read == old && !is_contained(action.inPlace, std::pair(result, unsigned(i))))
          return false;
      return true;
    });
  }

  /// The buffer of an input that dies here and lends its place; -1: there is none.
  int lent(int at, const Action &action, unsigned result) {
    const Tensor &made = step.tensors[action.writes[result]];
    for (auto [to, from] : action.inPlace) {
      if (to != result)
        continue;
      int read = action.reads[from];
      const Tensor &tensor = step.tensors[read];
      if (buffer[read] < 0 || !tensor.lends || tensor.bytes != made.bytes ||
          tensor.padding != made.padding || tensor.scope != action.scope || tensor.isPort ||
          tensor.variable >= 0 || uses[read].second != at || count(action.reads, read) != 1)
        continue;
      bool taken = any_of(action.writes, [&](int other) { return buffer[other] == buffer[read]; });
      if (!taken)
        return buffer[read];
    }
    return -1;
  }

  void act(int at, const Action &action) {
    if (action.keepsVariable && buffer[action.reads.front()] >= 0)
      return;
    for (auto [i, made] : enumerate(action.writes)) {
      const Tensor &tensor = step.tensors[made];
      if (!tensor.bytes || isDirect(at, action, i))
        continue;
      auto [first, last] = uses[made];
      if (int place = lent(at, action, i); place >= 0) {
        buffer[made] = place;
        lifetimes[place].last = std::max<int64_t>(lifetimes[place].last, last);
      } else if (buffer[made] < 0) {
        buffer[made] = add(first, last, tensor.bytes);
      }
    }
    if (action.workspace)
      add(at, at, action.workspace);
  }

  Memory place(int64_t most) {
    Memory memory;
    memory.alive.resize(std::max<size_t>(step.actions.size(), 1) + 1);
    for (const Lifetime &lifetime : lifetimes) {
      memory.alive[lifetime.first] += lifetime.size;
      memory.alive[lifetime.last + 1] -= lifetime.size;
    }
    for (size_t i = 1; i < memory.alive.size(); ++i)
      memory.alive[i] += memory.alive[i - 1];
    memory.alive.pop_back();
    memory.peak = int(max_element(memory.alive) - memory.alive.begin());
    memory.bytes = memory.alive.empty() ? 0 : memory.alive[memory.peak];
    memory.isPlaced = memory.bytes <= most;
    if (memory.isPlaced)
      memory.bytes = placeBuffers(lifetimes, 0).end;
    for (auto [place, used] : zip_equal(buffer, uses))
      memory.lifetimes.push_back(place < 0 ? std::pair(1, 0) : used);
    memory.buffers = std::move(buffer);
    return memory;
  }

  const Step &step;
  std::vector<std::pair<int, int>> uses; ///< first and last action, by tensor
  std::vector<int> buffer;               ///< by tensor
  std::vector<Lifetime> lifetimes;
  std::vector<SmallVector<int>> oldValues; ///< by variable
};

} // namespace

Memory measure(const Step &step, int64_t most) { return Measure(step).run(most); }

} // namespace weir::buffers
