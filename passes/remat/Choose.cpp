//===- Choose.cpp - Chooses activations to recompute or offload -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Choose.h says what is chosen, and by which costs. This file searches: it starts from the cheapest
// choices of ParetoFrontier.h, and measures the arena of each choice that it considers.
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Choose.h"
#include "passes/remat/ParetoFrontier.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

using namespace llvm;

namespace weir::remat {
namespace {

/// Choices that are measured, at most: the larger the step, the longer each takes.
int mostLooksAt(const Step &step) {
  return std::clamp<int>(1'000'000 / (int(step.actions.size()) + 1), 100, 2000);
}

} // namespace

class Chooser::Search {
public:
  Search(const Step &step, int64_t mostTried)
      : step(step), frontier(step), isOpen(step.actions.size()), mostTried(mostTried),
        mostLooks(mostLooksAt(step)) {
    for (int action : frontier.candidates())
      if (!step.actions[action].marked) {
        open.push_back(action);
        isOpen[action] = true;
      }
  }

  Choices within(int64_t most, bool wantsLeast);

private:
  /// What is known of a choice, whatever was asked for.
  struct Known {
    Choice choice;       ///< `bytes` where it was placed, else those that are alive at once
    int64_t alive = 0;   ///< those, in either case
    bool placed = false; ///< whether it was
    int round = -1;      ///< in which it was looked at last
  };

  const Known &smallest();
  /// Begins to look for what is best in so many bytes, or smallest.
  void begin(int64_t most, bool bySize) {
    budget = most;
    looksForSmallest = bySize;
    best = -1;
    looks = 0;
    ++round;
  }
  /// What is marked is repeated, whatever `released` says of it. Returns its number in `seen`.
  int look(Released released);
  int numberOf(Released released);
  void place(Known &known);
  bool fitsNow(Released released) { return fits(look(std::move(released))); }
  bool mayLook() const { return looks < mostLooks; }
  bool fits(int number) const { return seen[number].choice.bytes <= budget; }
  bool isBetter(int one, int other) const;
  const Choice &bestOne() const { return seen[best].choice; }
  double bound() const { return frontier.boundAt(budget); }
  /// Whether no choice is much better than the best.
  bool isNearBound() const { return bestOne().cost <= 1.02 * bound(); }

  int64_t countChoices() const;
  void tryAll(Released &released, size_t next);
  SmallVector<int> difference(const Released &little, const Released &much) const;
  Released between(const Released &little, const Released &much, ArrayRef<int> more, size_t count,
                   bool fromStart) const;
  void tryBetween(const Released &little, const Released &much);
  void tryBetweenCorners();
  void squeeze();
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
  const ParetoFrontier frontier;
  std::vector<int> open;    ///< candidates that are not marked
  std::vector<bool> isOpen; ///< by action
  std::vector<Known> seen;
  std::map<Released, int> known; ///< of `seen`
  std::optional<int> least;      ///< of `seen`, the smallest
  const int64_t mostTried;
  const int mostLooks;

  int64_t budget = 0;
  bool looksForSmallest = false;
  int best = -1; ///< of `seen`, of what was looked at since begin()
  int looks = 0;
  int round = -1;
};

bool Chooser::Search::isBetter(int one, int other) const {
  auto key = [&](int number) {
    const Choice &choice = seen[number].choice;
    double bytes = double(looksForSmallest ? seen[number].alive : choice.bytes);
    return fits(number) && !looksForSmallest ? std::tuple(0, choice.cost, bytes)
                                             : std::tuple(1, bytes, choice.cost);
  };
  return key(one) < key(other);
}

void Chooser::Search::place(Known &one) {
  one.choice.bytes = measure(rewrite(step, frontier.boundary(), one.choice.released).step).bytes;
  one.placed = true;
}

int Chooser::Search::numberOf(Released released) {
  for (int action : frontier.candidates())
    released.again[action] |= step.actions[action].marked;
  if (auto same = known.find(released); same != known.end())
    return same->second;
  Rewritten rewritten = rewrite(step, frontier.boundary(), released);
  // What nothing asks for is not released.
  Released asked(step);
  for (int action : rewritten.repeats)
    asked.again[action] = true;
  for (int tensor : rewritten.away)
    asked.away[tensor] = true;
  auto [found, isNew] = known.try_emplace(asked, int(seen.size()));
  int number = found->second;
  known.try_emplace(std::move(released), number);
  if (isNew) {
    Memory memory = measure(rewritten.step, budget);
    seen.push_back({{std::move(asked), rewritten.cost, memory.bytes},
                    memory.alive[memory.peak],
                    memory.isPlaced});
  }
  return number;
}

int Chooser::Search::look(Released released) {
  int number = numberOf(std::move(released));
  Known &one = seen[number];
  if (one.round == round)
    return number;
  one.round = round;
  ++looks;
  if (!one.placed && one.choice.bytes <= budget)
    place(one);
  if (best < 0 || isBetter(number, best))
    best = number;
  return number;
}

/// The number of choices, or something above `mostTried`.
int64_t Chooser::Search::countChoices() const {
  int64_t count = 1;
  for (int action : open)
    if (count <= mostTried)
      count *= int64_t(2) << std::min<size_t>(frontier.goers(action).size(), 32);
  return count;
}

/// Of each action: it is repeated or not, and some of its results lie with the host.
void Chooser::Search::tryAll(Released &released, size_t next) {
  if (next == open.size()) {
    (void)look(released);
    return;
  }
  int action = open[next];
  SmallVector<int> mayGo = frontier.goers(action);
  for (bool again : {true, false}) {
    released.again[action] = again;
    for (uint64_t bits = 0; bits < uint64_t(1) << mayGo.size(); ++bits) {
      for (auto [i, tensor] : enumerate(mayGo))
        released.away[tensor] = bits >> i & 1;
      tryAll(released, next + 1);
    }
  }
  for (int tensor : mayGo)
    released.away[tensor] = false;
}

/// The actions that one does something else with than the other, in order.
SmallVector<int> Chooser::Search::difference(const Released &little, const Released &much) const {
  SmallVector<int> result;
  for (int action : open)
    if (little.again[action] != much.again[action] ||
        any_of(step.actions[action].writes,
               [&](int made) { return little.away[made] != much.away[made]; }))
      result.push_back(action);
  return result;
}

/// What `much` does with `count` of the actions beyond what `little` does.
Released Chooser::Search::between(const Released &little, const Released &much, ArrayRef<int> more,
                                  size_t count, bool fromStart) const {
  Released released = little;
  for (int action : fromStart ? more.take_front(count) : more.take_back(count)) {
    released.again[action] = much.again[action];
    for (int made : step.actions[action].writes)
      released.away[made] = much.away[made];
  }
  return released;
}

/// More and more actions, from the start of the step or from its end on, until it fits: what is
/// needed last behind the boundary was made first, and comes back when other things are gone.
void Chooser::Search::tryBetween(const Released &little, const Released &much) {
  SmallVector<int> more = difference(little, much);
  for (bool fromStart : {true, false}) {
    size_t low = 0, high = more.size();
    while (high - low > 1 && mayLook()) {
      size_t middle = (low + high) / 2;
      (fitsNow(between(little, much, more, middle, fromStart)) ? high : low) = middle;
    }
  }
}

/// Half of the way from each corner to the next, then other parts of it on both sides of the best.
void Chooser::Search::tryBetweenCorners() {
  const std::vector<ParetoPoint> &all = frontier.all();
  auto part = [&](size_t i, size_t quarters) {
    const Released &little = all[i - 1].released, &much = all[i].released;
    SmallVector<int> more = difference(little, much);
    for (bool fromStart : {true, false})
      if (mayLook())
        (void)look(between(little, much, more, more.size() * quarters / 4, fromStart));
  };
  size_t smallest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    int before = best;
    (void)look(all[i].released);
    if (i > 0)
      part(i, 2);
    if (best != before)
      smallest = i;
  }
  for (size_t i : {smallest, smallest + 1})
    for (size_t quarters : {1, 3})
      if (i > 0 && i < all.size())
        part(i, quarters);
}

/// Of what is alive at the peak of the smallest, one after the other is released rather than kept,
/// in another way, or kept, as long as that takes less.
void Chooser::Search::squeeze() {
  while (mayLook()) {
    const Choice start = bestOne();
    const int before = best;
    Rewritten rewritten = rewrite(step, frontier.boundary(), start.released);
    Memory memory = measure(rewritten.step, /*most=*/0);
    std::map<int, int64_t> bytesOf; // at the peak, by action
    for (auto [i, tensor] : enumerate(rewritten.step.tensors)) {
      if (!memory.isAlive(int(i), memory.peak))
        continue;
      int maker = step.tensors[tensor.copyOf >= 0 ? tensor.copyOf : int(i)].madeBy;
      if (maker >= 0 && isOpen[maker])
        bytesOf[maker] += tensor.bytes;
    }
    SmallVector<std::pair<int, int64_t>> largest(bytesOf.begin(), bytesOf.end());
    stable_sort(largest, [](auto a, auto b) { return a.second > b.second; });
    auto tryOut = [&](auto &&change) {
      Released released = start.released;
      change(released);
      if (mayLook())
        (void)look(std::move(released));
    };
    for (auto [action, bytes] : largest) {
      tryOut([&](Released &released) {
        released.again[action] ^= 1;
        for (int tensor : frontier.goers(action))
          released.away[tensor] = false;
      });
      for (int tensor : frontier.goers(action))
        for (bool again : {false, true}) // which is something else where it has other results
          if (!again || (start.released.again[action] && step.actions[action].writes.size() > 1))
            tryOut([&](Released &released) {
              released.away[tensor] ^= 1;
              released.again[action] = again;
            });
      if (best != before)
        break;
    }
    if (best == before)
      return;
  }
}

/// What the best choice spends time on, the most expensive first.
SmallVector<Chooser::Search::Spent> Chooser::Search::spent() const {
  SmallVector<Spent> all;
  const Released &released = bestOne().released;
  for (int action : open) {
    if (released.again[action])
      all.push_back({step.actions[action].cost, action, -1});
    for (int tensor : frontier.goers(action))
      if (released.away[tensor])
        all.push_back({step.tensors[tensor].transfer, -1, tensor});
  }
  stable_sort(all, [](const Spent &a, const Spent &b) { return a.cost > b.cost; });
  return all;
}

/// Of the best choice, keeps what the budget has room for after all.
void Chooser::Search::keepWhatFits() {
  for (const Spent &one : spent()) {
    if (!mayLook())
      return;
    Released released = bestOne().released;
    keep(released, one);
    (void)look(std::move(released)); // which makes it the best where it fits
  }
}

/// Of what is alive at the peak and may be made again, the action whose time is least for its
/// bytes; -1: there is none.
int Chooser::Search::cheapestAtPeak(const Released &released, int butNot) const {
  Rewritten rewritten = rewrite(step, frontier.boundary(), released);
  Memory memory = measure(rewritten.step, /*most=*/0);
  int cheapest = -1;
  double least = INFINITY;
  for (int action : open) {
    if (released.again[action] || action == butNot)
      continue;
    int64_t bytes = 0;
    for (int made : step.actions[action].writes)
      if (memory.isAlive(made, memory.peak) && mayDrop(step, made))
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
void Chooser::Search::exchange() {
  constexpr int mostInstead = 8;
  for (const Spent &one : spent()) {
    if (isNearBound())
      return;
    Released released = bestOne().released;
    keep(released, one);
    for (int i = 0; i < mostInstead && mayLook(); ++i) {
      double most = bestOne().cost;
      int number = look(released);
      if (fits(number) || seen[number].choice.cost >= most)
        break;
      int instead = cheapestAtPeak(released, one.action);
      if (instead < 0)
        break;
      released.again[instead] = true;
    }
  }
}

/// The smallest choice that is found. It depends on no budget: of those in which least is alive at
/// once, which takes no placing, the smallest arena.
const Chooser::Search::Known &Chooser::Search::smallest() {
  if (least)
    return seen[*least];
  begin(/*most=*/0, /*bySize=*/true);
  Released none(step);
  (void)look(none);
  if (countChoices() <= mostTried) {
    tryAll(none, 0);
  } else {
    tryBetweenCorners();
    squeeze();
  }
  SmallVector<int> few;
  for (int number = 0; number < int(seen.size()); ++number)
    if (seen[number].round == round)
      few.push_back(number);
  sort(few, [&](int one, int other) {
    if (isBetter(one, other) || isBetter(other, one))
      return isBetter(one, other);
    return seen[one].choice.released < seen[other].choice.released;
  });
  few.truncate(std::min<size_t>(few.size(), mostLooks / 16));
  auto key = [&](int number) {
    const Choice &choice = seen[number].choice;
    return std::pair(double(choice.bytes), choice.cost);
  };
  for (int number : few) {
    if (!seen[number].placed)
      place(seen[number]);
    if (!least || key(number) < key(*least))
      least = number;
  }
  return seen[*least];
}

Choices Chooser::Search::within(int64_t most, bool wantsLeast) {
  Choices choices;
  auto result = [&] {
    choices.best = bestOne();
    choices.fits = fits(best);
    choices.bound = frontier.boundAt(most);
    return choices;
  };
  begin(most, /*bySize=*/false);
  Released none(step);
  if (fitsNow(none))
    return result();
  if (countChoices() <= mostTried) {
    tryAll(none, 0);
  } else if (frontier.least() <= most) {
    // The more a corner repeats, the less it keeps.
    const std::vector<ParetoPoint> &all = frontier.all();
    auto fit =
        partition_point(all, [&](const ParetoPoint &corner) { return !fitsNow(corner.released); });
    if (fit != all.end() && fit != all.begin())
      tryBetween(std::prev(fit)->released, fit->released);
  }
  if (!fits(best)) {
    if (!wantsLeast && frontier.least() > most)
      return result();
    Choice found = smallest().choice;
    begin(most, /*bySize=*/false);
    if (!fitsNow(found.released) || countChoices() <= mostTried)
      return result();
  }
  if (countChoices() > mostTried) {
    // Of what fits, only some may be needed beyond what is cheaper and does not.
    for (size_t i = 0; i < frontier.all().size() && !isNearBound(); ++i)
      tryBetween(frontier.all()[i].released, Released(bestOne().released));
    keepWhatFits();
    exchange();
  }
  return result();
}

Chooser::Chooser(const Step &step, int64_t mostTried)
    : given(std::make_unique<Search>(step, mostTried)) {
  if (none_of(step.tensors, [](const Tensor &tensor) { return tensor.transfer > 0; }))
    return;
  stays = step;
  for (Tensor &tensor : stays.tensors)
    tensor.transfer = 0;
  kept = std::make_unique<Search>(stays, mostTried);
}

Chooser::~Chooser() = default;

Choices Chooser::within(int64_t budget, bool wantsLeast) {
  Choices choices = given->within(budget, wantsLeast);
  if (!kept || (choices.fits && choices.best.cost <= choices.bound))
    return choices;
  // What may go to the host is no reason to find less than without it.
  Choices others = kept->within(budget, wantsLeast);
  bool isBetter = others.fits ? !choices.fits || others.best.cost < choices.best.cost
                              : !choices.fits && others.best.bytes < choices.best.bytes;
  if (isBetter) {
    choices.best = std::move(others.best);
    choices.fits = others.fits;
  }
  return choices;
}

Choices choose(const Step &step, int64_t budget, int64_t mostTried) {
  return Chooser(step, mostTried).within(budget);
}

} // namespace weir::remat
