//===- Rewrite.cpp - A step in which some is recomputed or offloaded ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Rewrite.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace weir::remat {
namespace {

class Rewriter {
public:
  Rewriter(const Step &step, int boundary, const Released &released)
      : step(step), boundary(boundary), released(released), now(step.tensors.size(), -1),
        onHost(step.tensors.size(), -1), wanted(step.tensors.size()),
        moved(step.actions.size(), -1) {
    result.step.tensors = step.tensors;
    result.step.loops = step.loops;
    result.step.begin = step.begin;
  }

  Rewritten run() {
    for (int i = boundary; i < step.end; ++i)
      for (int read : step.actions[i].reads)
        want(read);
    for (int at = 0; at < int(step.actions.size()); ++at) {
      if (at <= boundary)
        result.boundary = int(result.step.actions.size());
      if (at >= boundary && at < step.end)
        for (auto [first, last] : step.loops)
          if (first == at && last < step.end) // what a loop reads is there before it
            for (int j = first; j <= last; ++j)
              for (int read : step.actions[j].reads)
                (void)nowOf(read);
      if (moved[at] < 0)
        emit(at);
      for (int made : step.actions[at].writes)
        if (wanted[made] && isAway(made) && step.tensors[made].madeBy == at)
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
    copy.padding = bytes ? step.tensors[like].padding : 0;
    copy.scope = step.tensors[like].scope;
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

  void emit(int action) {
    Action here = step.actions[action];
    if (action >= boundary && action < step.end)
      for (int &read : here.reads)
        read = nowOf(read);
    moved[action] = int(result.step.actions.size());
    result.step.actions.push_back(std::move(here));
  }

  /// The tensor that a recomputed action reads in place of this one.
  int againOf(int tensor) {
    int again = step.tensors[tensor].regathered;
    if (again < 0)
      return nowOf(tensor);
    if (int gather = step.tensors[again].madeBy; moved[gather] < 0)
      emit(gather);
    return again;
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
      read = againOf(read);
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
  std::vector<int> moved;   ///< by action, its place in the result; -1: it is not there yet
  Rewritten result;
};

} // namespace

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
