//===- Explain.cpp - Saved activations of an entry, with their costs ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Explain.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Locations.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/kernel/Kernel.h"
#include "passes/remat/Order.h"
#include <numeric>

using namespace mlir;

namespace weir::remat {
namespace {

/// What a step keeps: memory that is made forward, read by gradients, by copies or by anything from
/// the boundary on, and alive together where most of it is.
class KeptTensors {
public:
  KeptTensors(const Step &step, int boundary)
      : kept(step.tensors.size()), first(step.tensors.size(), -1), last(step.tensors.size(), -1) {
    for (int i = step.begin; i < step.end; ++i) {
      const Action &action = step.actions[i];
      for (int read : action.reads) {
        last[read] = i;
        if (action.isBackward || action.again >= 0 || i >= boundary)
          kept[read] = step.tensors[read].bytes > 0 && !step.tensors[read].isGradient;
      }
      for (int made : action.writes)
        if (first[made] < 0)
          first[made] = i;
    }
    std::vector<int64_t> change(step.actions.size() + 2);
    for (auto [i, tensor] : llvm::enumerate(step.tensors))
      if (kept[i]) {
        change[first[i] + 1] += tensor.bytes;
        change[last[i] + 1] -= tensor.bytes;
      }
    std::partial_sum(change.begin(), change.end(), change.begin());
    turn = int(llvm::max_element(change) - change.begin());
    for (size_t i = 0; i < kept.size(); ++i)
      kept[i] = kept[i] && first[i] < std::min(turn, boundary) && turn <= last[i];
  }

  bool contains(int tensor) const { return kept[tensor]; }

private:
  std::vector<bool> kept; ///< by tensor
  std::vector<int> first; ///< the action that makes it; -1: it is there from the start
  std::vector<int> last;  ///< that reads it
  int turn = 0;           ///< the action ahead of which most is kept
};

class Explainer {
public:
  Explainer(const EntryStep &entry, const Released &released)
      : entry(entry), step(entry.step),
        rewritten(rewrite(entry.step, boundaryOf(entry.step), released)),
        before(step, boundaryOf(step)), now(rewritten.step, rewritten.boundary) {}

  SavedActivationsReport run();

private:
  double secondsOf(int tensor) const;
  std::string whyNot(int tensor) const;
  void addKept(int tensor);
  void addRepeated(int action);
  void addAway(int tensor);
  void add(int tensor, double seconds, Fate fate, std::string why);

  const EntryStep &entry;
  const Step &step; ///< tensors have the same numbers in both
  const Rewritten rewritten;
  const KeptTensors before, now;
  SavedActivationsReport result;
};

/// The time of all that must be done for a tensor, where everything else is there that is kept.
double Explainer::secondsOf(int tensor) const {
  double seconds = 0;
  std::vector<bool> done(step.actions.size());
  SmallVector<int> wanted = {tensor};
  while (!wanted.empty()) {
    int maker = step.tensors[wanted.pop_back_val()].madeBy;
    if (done[maker])
      continue;
    done[maker] = true;
    seconds += step.actions[maker].cost;
    for (int read : step.actions[maker].reads)
      if (mayDrop(step, read) && !now.contains(read))
        wanted.push_back(read);
  }
  return seconds;
}

/// Why it cannot be given up; "" where it can.
std::string Explainer::whyNot(int tensor) const {
  const Tensor &made = step.tensors[tensor];
  if (mayDrop(step, tensor))
    return "";
  if (made.madeBy < 0)
    return "an input";
  if (made.isPort)
    return "a result of the step";
  if (made.variable >= 0)
    return "the next value of a variable";
  Operation *maker = entry.makers[made.madeBy];
  if (isa_and_nonnull<KernelOp>(maker))
    return "one launch makes many";
  if (!maker)
    return "the loop over microbatches has it";
  if (isa<PackOp>(maker))
    return "put together for all ranks";
  if (isa<CollectivePermuteOp>(maker))
    return "passed on by another rank";
  return isCollective(maker) || isa<UnpackOp>(maker) ? "gathered from all ranks"
                                                     : "fetched from the host";
}

void Explainer::addKept(int tensor) {
  std::string why = whyNot(tensor);
  add(tensor, why.empty() ? secondsOf(tensor) : 0, Fate::kept, why);
}

void Explainer::addRepeated(int action) {
  const Action &repeated = step.actions[action];
  double seconds = repeated.cost; // of the first of its results
  for (int made : repeated.writes) {
    if (!mayDrop(step, made) || llvm::is_contained(rewritten.away, made))
      continue;
    std::string why = repeated.marked ? "the plan says so" : "it did not fit";
    if (!before.contains(made))
      why = "for what is computed from it";
    add(made, std::exchange(seconds, 0), Fate::again, why);
  }
}

void Explainer::addAway(int tensor) {
  add(tensor, step.tensors[tensor].transfer, Fate::away, "it did not fit");
}

void Explainer::add(int tensor, double seconds, Fate fate, std::string why) {
  Value value = entry.values[tensor];
  Location at = resultLocation(value);
  if (FileLineColLoc line = modelLine(at))
    at = line;
  SavedTensor kept{
      at, resultLabel(value).str(), step.tensors[tensor].bytes, 1, seconds, fate, std::move(why)};
  for (SavedTensor &other : result.tensors) {
    kept.times = other.times;
    if (kept == other) {
      ++other.times;
      return;
    }
  }
  kept.times = 1;
  result.tensors.push_back(std::move(kept));
}

SavedActivationsReport Explainer::run() {
  for (const Action &action : step.actions)
    result.seconds += action.cost;
  result.scratch = measure(step).bytes;
  result.least = leastInAnyOrder(rewritten.step);
  // What gradients read ahead of the boundary and behind it is there twice; it is listed once.
  std::vector<bool> released(step.tensors.size());
  for (int tensor : rewritten.away)
    released[tensor] = true;
  for (int action : rewritten.repeats)
    for (int made : step.actions[action].writes)
      released[made] = mayDrop(step, made);
  for (int tensor = 0; tensor < int(step.tensors.size()); ++tensor)
    if (now.contains(tensor) && !released[tensor] && entry.values[tensor])
      addKept(tensor);
  for (int action : rewritten.repeats)
    addRepeated(action);
  for (int tensor : rewritten.away)
    addAway(tensor);
  llvm::stable_sort(result.tensors, [](const SavedTensor &a, const SavedTensor &b) {
    return a.bytes * a.times > b.bytes * b.times;
  });
  return std::move(result);
}

} // namespace

SavedActivationsReport explain(const EntryStep &entry, const Released &released) {
  return Explainer(entry, released).run();
}

} // namespace weir::remat
