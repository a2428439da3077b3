//===- Step.cpp - What an entry holds in memory, action by action ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Step.h"
#include "passes/memory/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace weir::remat {
namespace {

/// What passes/lower and passes/memory make of a step's tensors.
class Measure {
public:
  explicit Measure(const Step &step)
      : step(step), uses(step.tensors.size(), {INT32_MAX, -1}), buffer(step.tensors.size(), -1) {}

  Memory run() {
    for (auto [i, action] : enumerate(step.actions))
      for (int tensor : concat<const int>(action.reads, action.writes))
        use(tensor, i);
    readVariables();
    for (auto [i, tensor] : enumerate(step.tensors))
      if (tensor.isPort)
        use(i, end());
    std::vector<bool> made(step.tensors.size());
    for (const Action &action : step.actions)
      for (int tensor : action.writes)
        made[tensor] = true;
    for (auto [i, tensor] : enumerate(step.tensors))
      if (!made[i] && tensor.bytes && uses[i].second >= 0) // an argument: there from the start
        buffer[i] = add(0, uses[i].second, tensor.bytes);
    for (auto [i, action] : enumerate(step.actions))
      act(i, action);
    return place();
  }

private:
  int end() const { return std::max<int>(int(step.actions.size()) - 1, 0); }

  /// The last loop around an action that does not contain what is used there.
  void use(int tensor, int at) {
    auto &[first, last] = uses[tensor];
    int from = at, to = at;
    if (int loop = step.tensors[tensor].outer; loop >= 0)
      if (auto [begin, stop] = step.loops[loop]; begin <= at && at <= stop)
        from = begin, to = stop;
    first = std::min(first, from);
    last = std::max(last, to);
  }

  void readVariables() {
    for (auto [i, tensor] : enumerate(step.tensors))
      if (tensor.readsVariable >= 0) {
        if (size_t(tensor.readsVariable) >= oldValues.size())
          oldValues.resize(tensor.readsVariable + 1);
        oldValues[tensor.readsVariable].push_back(i);
      }
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
      if (buffer[read] < 0 || !tensor.lends || tensor.bytes != made.bytes || tensor.isPort ||
          tensor.variable >= 0 || tensor.outer >= 0 || uses[read].second != at ||
          count(action.reads, read) != 1)
        continue;
      bool taken = any_of(action.writes, [&](int other) { return buffer[other] == buffer[read]; });
      if (!taken)
        return buffer[read];
    }
    return -1;
  }

  void act(int at, const Action &action) {
    for (auto [i, made] : enumerate(action.writes)) {
      const Tensor &tensor = step.tensors[made];
      if (!tensor.bytes || isDirect(at, action, i))
        continue;
      int last = tensor.variable >= 0 ? std::max(uses[made].second, end()) : uses[made].second;
      int first = uses[made].first;
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

  Memory place() {
    Memory memory;
    memory.bytes = placeBuffers(lifetimes, 0).end;
    memory.alive.resize(step.actions.size() + 1);
    for (const Lifetime &lifetime : lifetimes) {
      memory.alive[lifetime.first] += lifetime.size;
      memory.alive[lifetime.last + 1] -= lifetime.size;
    }
    for (size_t i = 1; i < memory.alive.size(); ++i)
      memory.alive[i] += memory.alive[i - 1];
    memory.alive.pop_back();
    memory.peak = int(max_element(memory.alive) - memory.alive.begin());
    for (int place : buffer)
      memory.lifetimes.push_back(
          place < 0 ? std::pair(1, 0)
                    : std::pair(int(lifetimes[place].first), int(lifetimes[place].last)));
    return memory;
  }

  const Step &step;
  std::vector<std::pair<int, int>> uses; ///< first and last action, by tensor
  std::vector<int> buffer;               ///< by tensor
  std::vector<Lifetime> lifetimes;
  std::vector<SmallVector<int>> oldValues; ///< by variable
};

class Rewriter {
public:
  Rewriter(const Step &step, int boundary, const std::vector<bool> &dropped)
      : step(step), dropped(dropped), now(step.tensors.size(), -1) {
    result.step.tensors = step.tensors;
    result.step.loops = step.loops;
    result.step.begin = step.begin;
    moved.reserve(step.actions.size());
    for (auto [i, action] : enumerate(step.actions)) {
      bool late = int(i) >= boundary && int(i) < step.end;
      Action here = action;
      if (late)
        for (int &read : here.reads)
          read = nowOf(read);
      moved.push_back(int(result.step.actions.size()));
      result.step.actions.push_back(std::move(here));
    }
    for (auto &[first, last] : result.step.loops)
      first = moved[first], last = moved[last];
    result.step.end = step.end > 0 ? moved[step.end - 1] + 1 : 0;
  }

  Rewritten result;

private:
  int nowOf(int tensor) {
    if (!dropped[tensor])
      return tensor;
    if (now[tensor] >= 0)
      return now[tensor];
    const Recipe &recipe = step.tensors[tensor].recipe;
    Action again;
    for (int read : recipe.reads)
      again.reads.push_back(nowOf(read));
    auto made = [&](int64_t bytes) {
      Tensor copy;
      copy.bytes = bytes;
      result.step.tensors.push_back(copy);
      again.writes.push_back(int(result.step.tensors.size()) - 1);
    };
    made(step.tensors[tensor].bytes);
    llvm::for_each(recipe.besides, made);
    again.inPlace = recipe.inPlace;
    again.workspace = recipe.workspace;
    again.again = tensor;
    now[tensor] = again.writes.front();
    result.cost += recipe.cost;
    result.again.push_back(tensor);
    result.step.actions.push_back(std::move(again));
    return now[tensor];
  }

  const Step &step;
  const std::vector<bool> &dropped;
  std::vector<int> now;   ///< what a dropped tensor is behind the boundary
  std::vector<int> moved; ///< the place of each action
};

} // namespace

Memory measure(const Step &step) { return Measure(step).run(); }

Rewritten rewrite(const Step &step, int boundary, const std::vector<bool> &dropped) {
  return Rewriter(step, boundary, dropped).result;
}

std::vector<bool> madeBefore(const Step &step, int boundary) {
  std::vector<bool> made(step.tensors.size());
  for (int i = step.begin; i < boundary; ++i)
    for (int tensor : step.actions[i].writes)
      made[tensor] = true;
  return made;
}

std::vector<bool> readBehind(const Step &step, int boundary) {
  std::vector<bool> made = madeBefore(step, boundary), read(step.tensors.size());
  for (int i = boundary; i < step.end; ++i)
    for (int tensor : step.actions[i].reads)
      read[tensor] = made[tensor];
  return read;
}

} // namespace weir::remat
