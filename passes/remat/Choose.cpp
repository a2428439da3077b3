//===- Choose.cpp - What is not kept, to fit into a budget ----------------===//
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
#include <map>

using namespace llvm;

namespace weir::remat {
namespace {

/// A choice as the boundary sees it.
struct Corner {
  Released released;
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

  Choices run(int64_t mostTried);

private:
  void findCandidates();
  bool isMarked(int action) const { return step.actions[action].marked; }
  /// The results of an action that may lie with the host, and are wanted.
  SmallVector<int> goers(int action) const;
  void findFixed();
  Corner cut(double price) const;
  void findCorners(const Corner &low, const Corner &high, int depth);
  double boundAt(double bytes) const;
  /// What is marked is repeated, whatever `released` says of it.
  const Choice &measured(Released released);
  bool mayLook() const { return int(seen.size()) < mostLooks; }
  bool fits(const Choice &choice) const { return choice.bytes <= budget; }
  int makerOf(const Step &rewritten, int tensor) const;
  int64_t countChoices(int64_t most) const;
  void tryAll(Released &released, size_t next);
  void tryBetween(const Released &little, const Released &much);
  void squeeze();
  double bound() const { return boundAt(double(budget) - double(fixed)); }
  /// Whether no choice is much better than the best.
  bool isNearBound() const { return seen[best].cost <= 1.02 * bound(); }
  struct Spent {
    double cost;
    int action, tensor; ///< the other is -1
  };
  SmallVector<Spent> spent() const;
  static void keep(Released &released, const Spent &one) {
    if (one.action >= 0)
      released.again[one.action] = false;
    else
      released.away[one.tensor] = false;
  }
  void keepWhatFits();
  void exchange();
  int cheapestAtPeak(const Released &released, int butNot) const;

  const Step &step;
  const int boundary;
  const int64_t budget;
  std::vector<bool> needed;    ///< tensors that are read at the boundary or behind it
  std::vector<bool> wanted;    ///< those, and what repetitions may read
  std::vector<int> candidates; ///< actions that may be repeated, and whose repetition may be wanted
  std::vector<int> open;       ///< those of them that are not marked
  int64_t fixed = 0;           ///< bytes alive at the boundary whatever is chosen
  std::vector<Corner> corners; ///< from nothing repeated to all that helps
  std::vector<Choice> seen;
  std::map<Released, int> known; ///< of `seen`
  int best = -1;
  const int mostLooks;
};

/// From what is needed on, back to where it comes from.
void Chooser::findCandidates() {
  wanted = needed;
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

SmallVector<int> Chooser::goers(int action) const {
  SmallVector<int> result;
  for (int made : step.actions[action].writes)
    if (wanted[made] && mayGo(step, made))
      result.push_back(made);
  return result;
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
  // What it costs that a tensor is there, and whether it is by transfers.
  auto costOf = [&](int tensor) {
    double kept = price * double(step.tensors[tensor].bytes);
    double moved = mayGo(step, tensor) ? step.tensors[tensor].transfer : INFINITY;
    return std::pair(std::min(kept, moved), moved < kept);
  };
  MinCut graph(nodes);
  for (int action : candidates) {
    graph.add(ofAction[action], 1, step.actions[action].cost);
    for (int made : step.actions[action].writes) {
      int tensor = ofTensor[made];
      if (tensor < 0)
        continue;
      graph.add(tensor, ofAction[action], isMarked(action) ? MinCut::never : costOf(made).first);
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
  corner.released = Released(step);
  for (int action : candidates) {
    bool again = side[ofAction[action]];
    corner.released.again[action] = again;
    if (again)
      corner.cost += step.actions[action].cost;
    for (int made : step.actions[action].writes) {
      if (ofTensor[made] < 0 || again || !side[ofTensor[made]])
        continue;
      if (costOf(made).second) {
        corner.released.away[made] = true;
        corner.cost += step.tensors[made].transfer;
      } else {
        corner.kept += double(step.tensors[made].bytes);
      }
    }
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

const Choice &Chooser::measured(Released released) {
  for (int action : candidates)
    released.again[action] = released.again[action] || isMarked(action);
  if (auto same = known.find(released); same != known.end())
    return seen[same->second];
  Rewritten rewritten = rewrite(step, boundary, released);
  // What nothing asks for is not released.
  Released asked(step);
  for (int action : rewritten.repeats)
    asked.again[action] = true;
  for (int tensor : rewritten.away)
    asked.away[tensor] = true;
  auto [found, isNew] = known.try_emplace(asked, int(seen.size()));
  int number = found->second;
  known.try_emplace(std::move(released), number);
  if (!isNew)
    return seen[number];
  seen.push_back({std::move(asked), rewritten.cost, measure(rewritten.step, budget).bytes});
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
    best = number;
  return made;
}

/// The action of the original step that makes this tensor of another, or what it is a copy of.
int Chooser::makerOf(const Step &rewritten, int tensor) const {
  if (tensor >= int(step.tensors.size())) {
    const Action &maker = rewritten.actions[rewritten.tensors[tensor].madeBy];
    if (maker.again >= 0)
      return maker.again;
    tensor = maker.away;
  }
  return step.tensors[tensor].madeBy;
}

/// The number of choices, or something above `most`.
int64_t Chooser::countChoices(int64_t most) const {
  int64_t count = 1;
  for (int action : open)
    if (count <= most)
      count *= 1 + (int64_t(1) << std::min<size_t>(goers(action).size(), 32));
  return count;
}

/// Of each action: all is kept, it is repeated, or some of its results lie with the host.
void Chooser::tryAll(Released &released, size_t next) {
  if (next == open.size()) {
    (void)measured(released);
    return;
  }
  int action = open[next];
  released.again[action] = true;
  tryAll(released, next + 1);
  released.again[action] = false;
  SmallVector<int> mayGo = goers(action);
  for (uint64_t bits = 0; bits < uint64_t(1) << mayGo.size(); ++bits) {
    for (auto [i, tensor] : enumerate(mayGo))
      released.away[tensor] = bits >> i & 1;
    tryAll(released, next + 1);
  }
  for (int tensor : mayGo)
    released.away[tensor] = false;
}

/// What `much` does with more and more actions beyond what `little` does, from the start of the
/// step or from its end on, until it fits: what is needed last behind the boundary was made first,
/// and comes back when other things are gone.
void Chooser::tryBetween(const Released &little, const Released &much) {
  auto take = [&](Released &released, int action) {
    released.again[action] = much.again[action];
    for (int made : step.actions[action].writes)
      released.away[made] = much.away[made];
  };
  SmallVector<int> more;
  for (int action : open) {
    Released changed = little;
    take(changed, action);
    if (!(changed == little))
      more.push_back(action);
  }
  for (bool fromStart : {true, false}) {
    size_t low = 0, high = more.size();
    auto with = [&](size_t count) {
      Released released = little;
      for (size_t i = 0; i < count; ++i)
        take(released, fromStart ? more[i] : more[more.size() - 1 - i]);
      return measured(released);
    };
    while (high - low > 1 && mayLook()) {
      size_t middle = (low + high) / 2;
      (fits(with(middle)) ? high : low) = middle;
    }
  }
}

/// Looks for what fits from the smallest choice on: of what is alive at its peak, one after the
/// other is released rather than kept, in another way, or kept.
void Chooser::squeeze() {
  while (mayLook() && !fits(seen[best])) {
    const Choice start = seen[best];
    Rewritten rewritten = rewrite(step, boundary, start.released);
    Memory memory = measure(rewritten.step);
    llvm::SmallSetVector<int, 16> actions;
    for (auto [tensor, lifetime] : enumerate(memory.lifetimes)) {
      if (lifetime.first > memory.peak || memory.peak > lifetime.second)
        continue;
      int maker = makerOf(rewritten.step, int(tensor));
      if (maker >= 0 && is_contained(open, maker))
        actions.insert(maker);
    }
    auto look = [&](auto &&change) {
      Released released = start.released;
      change(released);
      (void)measured(std::move(released));
      return mayLook();
    };
    for (int action : actions) {
      if (!look([&](Released &released) {
            released.again[action].flip();
            for (int tensor : goers(action))
              released.away[tensor] = false;
          }))
        return;
      for (int tensor : goers(action))
        if (!look([&](Released &released) {
              released.away[tensor].flip();
              released.again[action] = false;
            }))
          return;
    }
    if (seen[best].bytes >= start.bytes)
      return;
  }
}

/// What the best choice spends time on, the most expensive first.
SmallVector<Chooser::Spent> Chooser::spent() const {
  SmallVector<Spent> all;
  for (int action : open) {
    if (seen[best].released.again[action])
      all.push_back({step.actions[action].cost, action, -1});
    for (int tensor : goers(action))
      if (seen[best].released.away[tensor])
        all.push_back({step.tensors[tensor].transfer, -1, tensor});
  }
  stable_sort(all, [](const Spent &a, const Spent &b) { return a.cost > b.cost; });
  return all;
}

/// Of the best choice, keeps what the budget has room for after all.
void Chooser::keepWhatFits() {
  for (const Spent &one : spent()) {
    if (!mayLook())
      return;
    Released released = seen[best].released;
    keep(released, one);
    (void)measured(released); // which makes it the best where it fits
  }
}

/// Of what is alive at the peak and may be made again, the action whose time is least for its
/// bytes; -1: there is none.
int Chooser::cheapestAtPeak(const Released &released, int butNot) const {
  Rewritten rewritten = rewrite(step, boundary, released);
  Memory memory = measure(rewritten.step);
  int cheapest = -1;
  double least = INFINITY;
  for (int action : open) {
    if (released.again[action] || action == butNot)
      continue;
    int64_t bytes = 0;
    for (int made : step.actions[action].writes)
      if (auto [first, last] = memory.lifetimes[made];
          first <= memory.peak && memory.peak <= last && mayDrop(step, made))
        bytes += step.tensors[made].bytes;
    if (double price = bytes ? step.actions[action].cost / double(bytes) : INFINITY;
        price < least) {
      least = price;
      cheapest = action;
    }
  }
  return cheapest;
}

/// Keeps one after the other of what the best choice spends time on, and makes others again
/// instead, the cheapest of what is in the way, as long as that takes less.
void Chooser::exchange() {
  constexpr int mostInstead = 8;
  for (const Spent &one : spent()) {
    if (isNearBound())
      return;
    Released released = seen[best].released;
    keep(released, one);
    for (int i = 0; i < mostInstead && mayLook(); ++i) {
      double most = seen[best].cost;
      const Choice &choice = measured(released);
      if (fits(choice) || choice.cost >= most)
        break;
      int instead = cheapestAtPeak(released, one.action);
      if (instead < 0)
        break;
      released.again[instead] = true;
    }
  }
}

Choices Chooser::run(int64_t mostTried) {
  Released none(step);
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
  choices.bound = bound();
  if (!enough) {
    if (countChoices(mostTried) <= mostTried) {
      tryAll(none, 0);
    } else {
      // The more a corner repeats, the less it keeps.
      auto fit = llvm::partition_point(
          corners, [&](const Corner &corner) { return !fits(measured(corner.released)); });
      for (size_t i = corners.size(); i-- > 1;)
        if (fit == corners.end() || i == size_t(fit - corners.begin()))
          tryBetween(corners[i - 1].released, corners[i].released);
      squeeze();
      // Of what fits, only some may be needed beyond what is cheaper and does not.
      for (size_t i = 0; i < corners.size() && fits(seen[best]) && !isNearBound(); ++i)
        tryBetween(corners[i].released, Released(seen[best].released));
      if (fits(seen[best])) {
        keepWhatFits();
        exchange();
      }
    }
  }
  choices.best = seen[best];
  choices.fits = fits(seen[best]);
  return choices;
}

Choices find(const Step &step, int64_t budget, int64_t mostTried) {
  Choices choices = Chooser(step, budget).run(mostTried);
  // What is looked at depends on the budget; what is found for less fits, too.
  constexpr int mostSmaller = 6;
  int64_t room = budget;
  for (int i = 0; i < mostSmaller && !choices.fits; ++i) {
    room -= room / 32;
    Choice smaller = Chooser(step, room).run(mostTried).best;
    // Of what does not fit there, no more is known than what is alive.
    smaller.bytes = measure(rewrite(step, boundaryOf(step), smaller.released).step).bytes;
    if (smaller.bytes <= budget)
      return {smaller, true, choices.bound};
    if (smaller.bytes < choices.best.bytes)
      choices.best = smaller;
  }
  return choices;
}

} // namespace

Choices choose(const Step &step, int64_t budget, int64_t mostTried) {
  Choices choices = find(step, budget, mostTried);
  if ((choices.fits && choices.best.cost <= choices.bound) ||
      none_of(step.tensors, [](const Tensor &tensor) { return tensor.transfer > 0; }))
    return choices;
  // What may go to the host is no reason to find less than without it.
  Step stays = step;
  for (Tensor &tensor : stays.tensors)
    tensor.transfer = 0;
  Choices others = find(stays, budget, mostTried);
  bool isBetter = others.fits ? !choices.fits || others.best.cost < choices.best.cost
                              : !choices.fits && others.best.bytes < choices.best.bytes;
  if (isBetter) {
    choices.best = std::move(others.best);
    choices.fits = others.fits;
  }
  return choices;
}

} // namespace weir::remat
