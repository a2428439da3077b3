//===- Choose.cpp - What is computed again to fit into a budget -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Choose.h"
#include "passes/remat/MinCut.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace weir::remat {
namespace {

/// A choice as the boundary sees it.
struct Corner {
  std::vector<bool> again;
  double kept = 0, cost = 0;
  double price = 0; ///< of a byte, at which nothing is cheaper
};

/// Choices that are measured, at most: the larger the step, the longer each takes.
int mostLooksAt(const Step &step) {
  return std::clamp<int>(1'000'000 / (int(step.actions.size()) + 1), 100, 2000);
}

class Chooser {
public:
  Chooser(const Step &step, int64_t budget)
      : step(step), boundary(boundaryOf(step)), budget(budget), needed(step.tensors.size()),
        mostLooks(mostLooksAt(step)) {
    for (int i = boundary; i < step.end; ++i)
      for (int read : step.actions[i].reads)
        needed[read] = true;
    findCandidates();
    findFixed();
  }

  Choices run(int mostTried);

private:
  void findCandidates();
  bool isMarked(int action) const { return step.actions[action].marked; }
  void findFixed();
  Corner cut(double price) const;
  void findCorners(const Corner &low, const Corner &high, int depth);
  double boundAt(double bytes) const;
  /// What is marked is repeated, whatever `again` says of it.
  const Choice &measured(std::vector<bool> again);
  bool mayLook() const { return int(seen.size()) < mostLooks; }
  bool fits(const Choice &choice) const { return choice.bytes <= budget; }
  void tryAll();
  void tryBetween(const std::vector<bool> &little, const std::vector<bool> &much);
  void squeeze();
  void keepWhatFits();

  const Step &step;
  const int boundary;
  const int64_t budget;
  std::vector<bool> needed;    ///< tensors that are read at the boundary or behind it
  std::vector<int> candidates; ///< actions that may be repeated, and whose repetition may be wanted
  std::vector<int> open;       ///< those of them that are not marked
  int64_t fixed = 0;           ///< bytes alive at the boundary whatever is chosen
  std::vector<Corner> corners; ///< from nothing repeated to all that helps
  std::vector<Choice> seen;
  int best = -1;
  const int mostLooks;
};

/// From what is needed on, back to where it comes from.
void Chooser::findCandidates() {
  std::vector<bool> wanted(needed);
  for (int i = boundary - 1; i >= step.begin; --i) {
    const Action &action = step.actions[i];
    if (!action.repeats ||
        none_of(action.writes, [&](int made) { return wanted[made] && mayDrop(step, made); }))
      continue;
    candidates.push_back(i);
    for (int read : action.reads)
      wanted[read] = true;
  }
  std::reverse(candidates.begin(), candidates.end());
  llvm::copy_if(candidates, std::back_inserter(open),
                [&](int action) { return !isMarked(action); });
}

void Chooser::findFixed() {
  Memory memory = measure(step);
  if (boundary <= 0 || boundary > int(memory.alive.size()))
    return;
  // Ahead of the boundary: what is alive there is what is alive in both actions beside it.
  for (auto [i, lifetime] : enumerate(memory.lifetimes))
    if (lifetime.first < boundary && lifetime.second >= boundary && step.tensors[i].bytes &&
        step.tensors[i].madeBy < 0)
      fixed += step.tensors[i].bytes;
}

/// The cheapest choice where a byte that is kept costs so much.
Corner Chooser::cut(double price) const {
  // Nodes: repeated actions, and tensors that are needed, are with the source.
  std::vector<int> ofAction(step.actions.size(), -1), ofTensor(step.tensors.size(), -1);
  int nodes = 2;
  for (int action : candidates) {
    ofAction[action] = nodes++;
    for (int made : step.actions[action].writes)
      if (mayDrop(step, made))
        ofTensor[made] = nodes++;
  }
  MinCut graph(nodes);
  for (int action : candidates) {
    graph.add(ofAction[action], 1, step.actions[action].cost);
    for (int made : step.actions[action].writes) {
      int tensor = ofTensor[made];
      if (tensor < 0)
        continue;
      graph.add(tensor, ofAction[action],
                isMarked(action) ? MinCut::never : price * step.tensors[made].bytes);
      if (needed[made])
        graph.add(0, tensor, MinCut::never);
    }
    for (int read : step.actions[action].reads)
      if (ofTensor[read] >= 0)
        graph.add(ofAction[action], ofTensor[read], MinCut::never);
  }
  std::vector<bool> side = graph.solve();
  Corner corner;
  corner.price = price;
  corner.again.resize(step.actions.size());
  for (int action : candidates) {
    bool again = side[ofAction[action]];
    corner.again[action] = again;
    if (again)
      corner.cost += step.actions[action].cost;
    for (int made : step.actions[action].writes)
      if (ofTensor[made] >= 0 && !again && side[ofTensor[made]])
        corner.kept += step.tensors[made].bytes;
  }
  return corner;
}

void Chooser::findCorners(const Corner &low, const Corner &high, int depth) {
  constexpr int deepest = 6;
  if (low.kept <= high.kept || depth == deepest)
    return;
  double price = (high.cost - low.cost) / (low.kept - high.kept);
  Corner between = cut(price);
  double line = low.cost + price * low.kept, found = between.cost + price * between.kept;
  if (found >= line * (1 - 1e-9) || between.kept >= low.kept || between.kept <= high.kept)
    return;
  findCorners(low, between, depth + 1);
  corners.push_back(between);
  findCorners(between, high, depth + 1);
}

/// What no choice costs less than that keeps so many bytes: at every price that was looked at, none
/// is cheaper than the corner found there.
double Chooser::boundAt(double bytes) const {
  double bound = 0;
  for (const Corner &corner : corners)
    bound = std::max(bound, corner.cost + corner.price * (corner.kept - bytes));
  return bound;
}

const Choice &Chooser::measured(std::vector<bool> again) {
  for (int action : candidates)
    again[action] = again[action] || isMarked(action);
  if (auto known = find_if(seen, [&](const Choice &choice) { return choice.again == again; });
      known != seen.end())
    return *known;
  Rewritten rewritten = rewrite(step, boundary, again);
  // What nothing asks for is not repeated.
  std::vector<bool> repeated(step.actions.size());
  for (int action : rewritten.repeats)
    repeated[action] = true;
  seen.push_back({std::move(repeated), rewritten.cost, measure(rewritten.step, budget).bytes});
  const Choice &made = seen.back();
  auto better = [&](const Choice &one, const Choice &other) {
    if (fits(one) != fits(other))
      return fits(one);
    auto key = [&](const Choice &choice) {
      return fits(choice) ? std::pair(choice.cost, double(choice.bytes))
                          : std::pair(double(choice.bytes), choice.cost);
    };
    return key(one) < key(other);
  };
  if (best < 0 || better(made, seen[best]))
    best = int(seen.size()) - 1;
  return made;
}

void Chooser::tryAll() {
  for (uint64_t bits = 1; bits < uint64_t(1) << open.size(); ++bits) {
    std::vector<bool> again(step.actions.size());
    for (auto [i, action] : enumerate(open))
      again[action] = bits >> i & 1;
    (void)measured(again);
  }
}

/// More and more of what `much` repeats beyond `little`, from the start of the step or from its end
/// on, until it fits: what is needed last behind the boundary was made first, and is made again
/// when other things are gone.
void Chooser::tryBetween(const std::vector<bool> &little, const std::vector<bool> &much) {
  SmallVector<int> more;
  for (int action : open)
    if (much[action] && !little[action])
      more.push_back(action);
  for (bool fromStart : {true, false}) {
    size_t low = 0, high = more.size();
    auto with = [&](size_t count) {
      std::vector<bool> again = little;
      for (size_t i = 0; i < count; ++i)
        again[fromStart ? more[i] : more[more.size() - 1 - i]] = true;
      return measured(again);
    };
    while (high - low > 1 && mayLook()) {
      size_t middle = (low + high) / 2;
      (fits(with(middle)) ? high : low) = middle;
    }
  }
}

/// Looks for what fits from the smallest choice on: of what is alive at its peak, one after the
/// other is repeated rather than kept, or kept rather than repeated.
void Chooser::squeeze() {
  while (mayLook() && !fits(seen[best])) {
    const Choice start = seen[best];
    Rewritten rewritten = rewrite(step, boundary, start.again);
    Memory memory = measure(rewritten.step);
    llvm::SmallSetVector<int, 16> actions;
    for (auto [tensor, lifetime] : enumerate(memory.lifetimes)) {
      if (lifetime.first > memory.peak || memory.peak > lifetime.second)
        continue;
      int maker = tensor < step.tensors.size()
                      ? step.tensors[tensor].madeBy
                      : rewritten.step.actions[rewritten.step.tensors[tensor].madeBy].again;
      if (maker >= 0 && is_contained(open, maker))
        actions.insert(maker);
    }
    for (int action : actions) {
      std::vector<bool> again = start.again;
      again[action] = !again[action];
      (void)measured(again);
      if (!mayLook())
        return;
    }
    if (seen[best].bytes >= start.bytes)
      return;
  }
}

/// Of the best choice, keeps again what the budget has room for, the most expensive first.
void Chooser::keepWhatFits() {
  SmallVector<int> repeated;
  for (int action : open)
    if (seen[best].again[action])
      repeated.push_back(action);
  stable_sort(repeated, [&](int a, int b) { return step.actions[a].cost > step.actions[b].cost; });
  for (int action : repeated) {
    if (!mayLook())
      return;
    std::vector<bool> again = seen[best].again;
    again[action] = false;
    (void)measured(again); // which makes it the best where it fits
  }
}

Choices Chooser::run(int mostTried) {
  std::vector<bool> none(step.actions.size());
  bool enough = fits(measured(none));
  if (!candidates.empty()) {
    // Free at first; then so dear that nothing is kept that can be made again.
    double total = 0, smallest = INFINITY;
    for (int action : candidates) {
      total += step.actions[action].cost;
      for (int made : step.actions[action].writes)
        if (mayDrop(step, made))
          smallest = std::min(smallest, double(step.tensors[made].bytes));
    }
    Corner low = cut(0), high = cut(2 * (total + 1e-12) / smallest);
    corners.push_back(low);
    findCorners(low, high, 0);
    corners.push_back(high);
  }
  Choices choices;
  choices.bound = boundAt(double(budget) - double(fixed));
  if (!enough) {
    if (int(open.size()) <= mostTried) {
      tryAll();
    } else {
      // The more a corner repeats, the less it keeps.
      auto fit = llvm::partition_point(
          corners, [&](const Corner &corner) { return !fits(measured(corner.again)); });
      for (size_t i = corners.size(); i-- > 1;)
        if (fit == corners.end() || i == size_t(fit - corners.begin()))
          tryBetween(corners[i - 1].again, corners[i].again);
      squeeze();
      if (fits(seen[best]))
        keepWhatFits();
    }
  }
  choices.best = seen[best];
  choices.fits = fits(seen[best]);
  return choices;
}

} // namespace

Choices choose(const Step &step, int64_t budget, int mostTried) {
  Choices choices = Chooser(step, budget).run(mostTried);
  // What is looked at depends on the budget; what is found for less fits, too.
  constexpr int mostSmaller = 6;
  int64_t room = budget;
  for (int i = 0; i < mostSmaller && !choices.fits; ++i) {
    room -= room / 32;
    Choice smaller = Chooser(step, room).run(mostTried).best;
    // Of what does not fit there, no more is known than what is alive.
    smaller.bytes = measure(rewrite(step, boundaryOf(step), smaller.again).step).bytes;
    if (smaller.bytes <= budget)
      return {smaller, true, choices.bound};
    if (smaller.bytes < choices.best.bytes)
      choices.best = smaller;
  }
  return choices;
}

} // namespace weir::remat
