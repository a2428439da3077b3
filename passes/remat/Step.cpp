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

class Rewriter {
public:
  Rewriter(const Step &step, int boundary, const Released &released)
      : step(step), boundary(boundary), released(released), now(step.tensors.size(), -1),
        onHost(step.tensors.size(), -1), wanted(step.tensors.size()) {
    result.step.tensors = step.tensors;
    result.step.loops = step.loops;
    result.step.begin = step.begin;
  }

  Rewritten run() {
    for (int i = boundary; i < step.end; ++i)
      for (int read : step.actions[i].reads)
        want(read);
    std::vector<int> moved; // the place of each action
    moved.reserve(step.actions.size());
    for (auto [i, action] : enumerate(step.actions)) {
      Action here = action;
      if (int(i) <= boundary)
        result.boundary = int(result.step.actions.size());
      if (int(i) >= boundary && int(i) < step.end) {
        for (auto [first, last] : step.loops)
          if (first == int(i) && last < step.end) // what a loop reads is there before it
            for (int j = first; j <= last; ++j)
              for (int read : step.actions[j].reads)
                (void)nowOf(read);
        for (int &read : here.reads)
          read = nowOf(read);
      }
      moved.push_back(int(result.step.actions.size()));
      result.step.actions.push_back(std::move(here));
      for (int made : action.writes)
        if (wanted[made] && isAway(made) && step.tensors[made].madeBy == int(i))
          put(made);
    }
    for (auto &[first, last] : result.step.loops)
      first = moved[first], last = moved[last];
    result.step.end = step.end > 0 ? moved[step.end - 1] + 1 : 0;
    return std::move(result);
  }

private:
  bool isAway(int tensor) const { return released.away[tensor] && mayGo(step, tensor); }
  bool isReleased(int tensor) const {
    int maker = step.tensors[tensor].madeBy;
    return maker >= 0 && maker < boundary && mayDrop(step, tensor) &&
           (released.again[maker] || isAway(tensor));
  }

  /// Notes what has to come back so that this is there.
  void want(int tensor) {
    if (wanted[tensor] || !isReleased(tensor))
      return;
    wanted[tensor] = true;
    if (!isAway(tensor))
      for (int read : step.actions[step.tensors[tensor].madeBy].reads)
        want(read);
  }

  int addTensor(int like, int64_t bytes) {
    Tensor copy;
    copy.bytes = bytes;
    copy.outer = step.tensors[like].outer;
    copy.madeBy = int(result.step.actions.size());
    copy.copyOf = like;
    result.step.tensors.push_back(copy);
    return int(result.step.tensors.size()) - 1;
  }

  /// A copy of it, from device to host or back. Returns what it makes.
  int transfer(int tensor, int from, int64_t bytes) {
    int made = addTensor(tensor, bytes);
    Action copy;
    copy.reads = {from};
    copy.writes = {made};
    copy.cost = step.tensors[tensor].transfer / 2;
    copy.away = tensor;
    result.cost += copy.cost;
    result.step.actions.push_back(std::move(copy));
    return made;
  }

  void put(int tensor) {
    onHost[tensor] = transfer(tensor, tensor, 0);
    result.away.push_back(tensor);
  }

  int nowOf(int tensor) {
    if (!isReleased(tensor))
      return tensor;
    if (now[tensor] >= 0)
      return now[tensor];
    if (isAway(tensor))
      return now[tensor] = transfer(tensor, onHost[tensor], step.tensors[tensor].bytes);
    int maker = step.tensors[tensor].madeBy;
    const Action &original = step.actions[maker];
    Action repeat = original;
    for (int &read : repeat.reads)
      read = nowOf(read);
    repeat.writesDirectly = false;
    repeat.repeats = false;
    repeat.again = maker;
    for (int &write : repeat.writes) {
      int made = addTensor(write, step.tensors[write].bytes);
      if (!isAway(write))
        now[write] = made;
      write = made;
    }
    result.cost += original.cost;
    result.repeats.push_back(maker);
    result.step.actions.push_back(std::move(repeat));
    return now[tensor];
  }

  const Step &step;
  const int boundary;
  const Released &released;
  std::vector<int> now;     ///< what a released tensor is behind the boundary
  std::vector<int> onHost;  ///< its copy there
  std::vector<bool> wanted; ///< whether it comes back at all
  Rewritten result;
};

} // namespace

Memory measure(const Step &step, int64_t most) { return Measure(step).run(most); }

Rewritten rewrite(const Step &step, int boundary, const Released &released) {
  return Rewriter(step, boundary, released).run();
}

bool mayDrop(const Step &step, int tensor) {
  const Tensor &made = step.tensors[tensor];
  return made.madeBy >= 0 && step.actions[made.madeBy].repeats && made.bytes > 0 && !made.isPort &&
         made.variable < 0;
}

bool mayGo(const Step &step, int tensor) {
  return step.tensors[tensor].transfer > 0 && mayDrop(step, tensor) &&
         !step.actions[step.tensors[tensor].madeBy].marked;
}

int boundaryOf(const Step &step) {
  std::vector<int64_t> change(step.actions.size() + 2);
  std::vector<int> last(step.tensors.size(), -1);
  for (int i = step.begin; i < step.end; ++i)
    for (int read : step.actions[i].reads)
      last[read] = i;
  for (auto [i, tensor] : enumerate(step.tensors))
    if (mayDrop(step, i) && last[i] > tensor.madeBy) {
      change[tensor.madeBy + 1] += tensor.bytes;
      change[last[i] + 1] -= tensor.bytes;
    }
  int64_t kept = 0, most = -1;
  int boundary = step.begin;
  for (int i = step.begin; i < step.end; ++i)
    if (kept += change[i]; kept > most) {
      most = kept;
      boundary = i;
    }
  // What is marked is made before it, and its gradients are computed behind it.
  auto isMarked = [&](int tensor) {
    int maker = step.tensors[tensor].madeBy;
    return maker >= 0 && step.actions[maker].marked;
  };
  int firstGradient = -1;
  for (int i = step.begin; i < step.end; ++i) {
    if (!step.actions[i].isBackward)
      continue;
    if (firstGradient < 0)
      firstGradient = i;
    if (any_of(step.actions[i].reads, isMarked))
      return std::max(firstGradient, std::min(boundary, i));
  }
  return boundary;
}

Released marked(const Step &step) {
  Released result(step);
  for (auto [i, action] : enumerate(step.actions))
    result.again[i] = action.marked;
  return result;
}

} // namespace weir::remat
