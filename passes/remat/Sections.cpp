//===- Sections.cpp - Recomputation in pipeline sections ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Sections.h"
#include "ir/weir/Phase.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/requests/Recompute.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/remat/Regather.h"
#include "passes/stages/GatherSections.h"
#include "llvm/ADT/ScopeExit.h"
#include <limits>
#include <map>

using namespace mlir;

namespace weir::remat {
namespace {

bool goesBack(MicrobatchesOp section) {
  return llvm::any_of(section.getBody().front(), [](Operation &op) { return isBackward(&op); });
}

class Repeater {
public:
  Repeater(func::FuncOp entry, const llvm::DenseSet<Operation *> &kernels)
      : sections(sectionsIn(entry.front())), kernels(kernels) {}

  void run() {
    for (MicrobatchesOp section : sections)
      for (auto save : bodyOf(section).getOps<SaveOp>()) {
        saves[save.getNumber()] = save;
        numberOf.try_emplace(save.getInput(), save.getNumber());
        next = std::max(next, int64_t(save.getNumber()) + 1);
      }
    for (MicrobatchesOp section : sections)
      if (goesBack(section))
        repeatIn(section);
    llvm::DenseSet<int64_t> isRead;
    for (MicrobatchesOp section : sections)
      for (SavedOp get : llvm::make_early_inc_range(bodyOf(section).getOps<SavedOp>()))
        if (get.use_empty())
          get.erase();
        else
          isRead.insert(int64_t(get.getNumber()));
    for (auto &[number, save] : saves)
      if (!isRead.contains(number))
        save.erase();
  }

private:
  static Block &bodyOf(MicrobatchesOp section) { return section.getBody().front(); }

  bool isRepeated(Value value) const {
    Operation *maker = memoryOf(value).getDefiningOp();
    return maker && kernels.contains(maker);
  }

  /// What is read first comes first: what is computed again for one is there for the next.
  void repeatIn(MicrobatchesOp section) {
    struct Read {
      SavedOp get;
      Operation *first;
      SmallVector<Operation *> shown; ///< aliases of it
    };
    std::vector<Read> reads;
    for (auto get : bodyOf(section).getOps<SavedOp>()) {
      if (!isRepeated(saves.at(get.getNumber()).getInput()))
        continue;
      Read read{get, nullptr, {}};
      findUsers(get.getResult(), read.first, read.shown);
      if (read.first)
        reads.push_back(std::move(read));
    }
    llvm::stable_sort(
        reads, [](const Read &a, const Read &b) { return a.first->isBeforeInBlock(b.first); });
    here = section;
    now.clear();
    for (Read &read : reads) {
      OpBuilder builder(read.first);
      Value again = nowOf(saves.at(read.get.getNumber()).getInput(), builder);
      for (Operation *alias : read.shown)
        alias->moveBefore(read.first);
      read.get.getResult().replaceAllUsesWith(again);
    }
  }

  static void findUsers(Value value, Operation *&first, SmallVectorImpl<Operation *> &shown) {
    for (Operation *user : value.getUsers()) {
      if (isAlias(user)) {
        shown.push_back(user);
        findUsers(user->getResult(0), first, shown);
      } else if (!first || user->isBeforeInBlock(first)) {
        first = user;
      }
    }
  }

  /// What a value of an earlier section is in the one at hand.
  Value nowOf(Value value, OpBuilder &builder) {
    auto home = dyn_cast<MicrobatchesOp>(value.getParentBlock()->getParentOp());
    if (!home || home == here)
      return value; // of all microbatches
    if (Value known = now.lookup(value))
      return known;
    Operation *maker = value.getDefiningOp();
    if (Value again = gatheredHere(value, builder))
      return now[value] = again;
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (size_t slice = argument.getArgNumber() - 1; slice < home.getSliced().size())
        return now[value] = sliceOf(home.getSliced()[slice]);
    if (auto get = dyn_cast_or_null<SavedOp>(maker))
      return now[value] = SavedOp::create(builder, get.getLoc(), get.getType(), get.getNumber());
    bool isRepeat = maker && kernels.contains(maker);
    // An offloaded value is reloaded again, as its kernel does.
    if (!isRepeat && !(maker && (isAlias(maker) || isa<ReloadOp>(maker))))
      return now[value] = saved(value, builder);
    if (auto found = repeated.find(value); isRepeat && found != repeated.end())
      return now[value] = saved(found->second, builder);
    SmallVector<Value> operands;
    for (Value operand : maker->getOperands())
      operands.push_back(nowOf(operand, builder));
    Operation *copy = builder.clone(*maker);
    copy->setOperands(operands);
    if (isRepeat)
      copy->setAttr(againAttrName, builder.getUnitAttr());
    for (auto [old, made] : llvm::zip_equal(maker->getResults(), copy->getResults())) {
      now[old] = made;
      if (isRepeat)
        repeated[old] = made;
    }
    return now.lookup(value);
  }

  /// A value that an earlier section has gathered and that this one gathers again. Null: there is
  /// none. Sections share what is from outside, so what is gathered is there.
  Value gatheredHere(Value value, OpBuilder &builder) {
    auto first = value.getDefiningOp<AllGatherOp>();
    AllGatherOp again = first ? gatheredAgain(first, bodyOf(here)) : AllGatherOp();
    if (!again)
      return {};
    if (Operation *next = &*builder.getInsertionPoint(); next->isBeforeInBlock(again))
      again->moveBefore(next);
    return again.getResult();
  }

  Value saved(Value value, OpBuilder &builder) {
    auto [known, isNew] = numberOf.try_emplace(value, next);
    if (isNew) {
      OpBuilder end(value.getParentBlock()->getTerminator());
      saves[next] = SaveOp::create(end, value.getLoc(), value, next);
      ++next;
    }
    return SavedOp::create(builder, value.getLoc(), value.getType(), known->second);
  }

  Value sliceOf(Value whole) {
    for (auto [i, sliced] : llvm::enumerate(here.getSliced()))
      if (sliced == whole)
        return bodyOf(here).getArgument(unsigned(i) + 1);
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.front() /= int64_t(here.getCount());
    unsigned place = 1 + unsigned(here.getSliced().size());
    here.getSlicedMutable().append(whole);
    return bodyOf(here).insertArgument(place, type.clone(shape), whole.getLoc());
  }

  const SmallVector<MicrobatchesOp> sections;
  const llvm::DenseSet<Operation *> &kernels;
  std::map<int64_t, SaveOp> saves;
  llvm::DenseMap<Value, int64_t> numberOf; ///< of values that are saved
  int64_t next = 1;
  MicrobatchesOp here;
  llvm::DenseMap<Value, Value> now;      ///< in the section at hand
  llvm::DenseMap<Value, Value> repeated; ///< in whichever section was first
};

/// Seconds: what takes no time by the target's description takes some.
constexpr double smallestCost = 1e-12;

double secondsOf(const Step &step) {
  double seconds = 0;
  for (const Action &action : step.actions)
    seconds += action.cost;
  return seconds;
}

} // namespace

SmallVector<KernelOp> repeatable(func::FuncOp entry) {
  SmallVector<KernelOp> result;
  SmallVector<MicrobatchesOp> sections = sectionsIn(entry.front());
  if (llvm::any_of(sections, goesBack))
    for (MicrobatchesOp section : sections)
      if (!goesBack(section))
        for (auto kernel : section.getBody().front().getOps<KernelOp>())
          if (kernel.getCopies() == 1) // what many share a launch for is small
            result.push_back(kernel);
  return result;
}

void repeat(func::FuncOp entry, const llvm::DenseSet<Operation *> &kernels) {
  if (!kernels.empty())
    Repeater(entry, kernels).run();
}

FailureOr<SectionChooser> SectionChooser::of(func::FuncOp entry, KernelFacts &facts,
                                             llvm::function_ref<bool(KernelOp)> marked) {
  SectionChooser chooser(entry, facts);
  // First of all as it is: what is known of kernels is known by these.
  FailureOr<EntryStep> whole = readStep(entry, facts);
  if (failed(whole))
    return failure();
  chooser.total = secondsOf(whole->step);
  SmallVector<KernelOp> kernels = repeatable(entry);
  chooser.count = kernels.size();
  SmallVector<unsigned> always;
  // Layers' random numbers have keys of their own.
  std::vector<OwningOpRef<KernelOp>> shapes;
  llvm::DenseMap<Operation *, size_t, KernelStructure> groupOf;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    if (marked(kernel)) {
      always.push_back(unsigned(i));
      continue;
    }
    OwningOpRef<KernelOp> shape = withPlacesAsKeys(kernel);
    auto [found, isNew] = groupOf.try_emplace(*shape, chooser.groups.size());
    if (isNew) {
      chooser.groups.emplace_back();
      shapes.push_back(std::move(shape));
    }
    chooser.groups[found->second].push_back(unsigned(i));
  }
  FailureOr<SectionChoice> plain = chooser.measured(std::move(always));
  if (failed(plain))
    return failure();
  chooser.plain = std::move(*plain);
  return chooser;
}

FailureOr<SectionChoice> SectionChooser::measured(SmallVector<unsigned> again) {
  llvm::sort(again);
  func::FuncOp trial = entry.clone();
  auto module = entry->getParentOfType<ModuleOp>();
  module.push_back(trial);
  llvm::scope_exit erase([&] { trial.erase(); });
  SectionChoice choice{std::move(again), 0, 0};
  applyTo(trial, choice);
  FailureOr<EntryStep> read = readStep(trial, facts);
  if (failed(read))
    return failure();
  choice.cost = secondsOf(read->step) - total;
  choice.bytes = measure(read->step).bytes;
  return choice;
}

void SectionChooser::applyTo(func::FuncOp to, const SectionChoice &choice) {
  SmallVector<KernelOp> kernels = repeatable(to);
  llvm::DenseSet<Operation *> again;
  for (unsigned number : choice.again)
    again.insert(kernels[number]);
  repeat(to, again);
}

FailureOr<SectionChoice> SectionChooser::add(const SectionChoice &to, ArrayRef<unsigned> more) {
  SmallVector<unsigned> again(to.again);
  llvm::append_range(again, more);
  return measured(std::move(again));
}

FailureOr<SectionChoice> SectionChooser::remove(const SectionChoice &from,
                                                ArrayRef<unsigned> less) {
  SmallVector<unsigned> again(from.again);
  llvm::erase_if(again, [&](unsigned number) { return llvm::is_contained(less, number); });
  return measured(std::move(again));
}

FailureOr<SectionChoice> SectionChooser::all() {
  SmallVector<unsigned> every;
  for (const auto &group : groups)
    llvm::append_range(every, group);
  return add(plain, every);
}

/// Group by group, that first which saves most for what it takes. What a group was worth before
/// another was taken is about what it is worth still, so it is measured anew only where it is first
/// by that: there are as many measurements as groups, and some.
FailureOr<SectionChoice> SectionChooser::growing(int64_t budget) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  SectionChoice now = plain;
  std::vector<double> worth(groups.size(), unknown);
  while (now.bytes > budget) {
    std::vector<std::optional<SectionChoice>> with(groups.size());
    size_t best = 0;
    while ((best = size_t(llvm::max_element(worth) - worth.begin())) < groups.size() &&
           worth[best] > 0 && !with[best]) {
      FailureOr<SectionChoice> choice = add(now, groups[best]);
      if (failed(choice))
        return failure();
      worth[best] =
          double(now.bytes - choice->bytes) / std::max(choice->cost - now.cost, smallestCost);
      with[best] = std::move(*choice);
    }
    if (best == groups.size() || worth[best] <= 0)
      break;
    now = std::move(*with[best]);
    worth[best] = 0; // it is taken
  }
  return now;
}

/// From all groups, without those that need not be, the last first.
FailureOr<SectionChoice> SectionChooser::shrinking(int64_t budget) {
  FailureOr<SectionChoice> now = all();
  for (size_t i = groups.size(); succeeded(now) && i-- > 0;) {
    FailureOr<SectionChoice> without = remove(*now, groups[i]);
    if (failed(without) || without->bytes <= std::max(budget, now->bytes))
      now = std::move(without);
  }
  return now;
}

/// Without what of each group is more than enough.
FailureOr<SectionChoice> SectionChooser::trimmed(SectionChoice choice, int64_t budget) {
  for (const auto &group : groups) {
    if (!llvm::is_contained(choice.again, group.front()))
      continue;
    size_t fits = 0, tooMany = group.size() + 1; // of the group, that may go
    while (tooMany - fits > 1) {
      size_t half = (fits + tooMany) / 2;
      FailureOr<SectionChoice> without = remove(choice, ArrayRef(group).take_front(half));
      if (failed(without))
        return failure();
      (without->bytes <= budget ? fits : tooMany) = half;
    }
    if (fits > 0) {
      FailureOr<SectionChoice> without = remove(choice, ArrayRef(group).take_front(fits));
      if (failed(without))
        return failure();
      choice = std::move(*without);
    }
  }
  return choice;
}

FailureOr<SectionChoice> SectionChooser::within(int64_t budget) {
  if (plain.bytes <= budget)
    return plain;
  FailureOr<SectionChoice> grown = growing(budget);
  FailureOr<SectionChoice> shrunk = succeeded(grown) ? shrinking(budget) : grown;
  if (failed(shrunk))
    return failure();
  for (auto *choice : {&grown, &shrunk})
    if ((*choice)->bytes <= budget) {
      *choice = trimmed(std::move(**choice), budget);
      if (failed(*choice))
        return failure();
    }
  auto rank = [&](const SectionChoice &choice) {
    bool fits = choice.bytes <= budget;
    return std::tuple(!fits, fits ? 0 : choice.bytes, choice.cost);
  };
  return rank(*shrunk) < rank(*grown) ? *shrunk : *grown;
}

} // namespace weir::remat
