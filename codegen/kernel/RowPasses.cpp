//===- RowPasses.cpp - The passes of a row kernel over a row --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/RowPasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weir {
namespace {

/// What computing an element again must cost, in the unit of Pointwise::weight, to be worth a store
/// and a load: one elementary function, or as many simple operations.
constexpr int64_t worthSaving = elementaryWeight;

int64_t weightOf(Operation *op) {
  if (auto pointwise = dyn_cast<Pointwise>(op))
    return pointwise.weight();
  // Random numbers take longer than an elementary function.
  return fusionClass(op) == FusionClass::cheap ? 0 : elementaryWeight;
}

bool isFull(const RowSpace &space, Value value) {
  return tensorType(value).getNumElements() == space.rows * space.columns;
}

/// Whether the kernel's inputs or the reductions before the pass have it.
bool isGiven(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || isa<ReduceOp>(op);
}

/// The values that a pass computes elements of, in its order.
SmallVector<Value> rootsOf(const RowPass &pass) {
  SmallVector<Value> roots;
  for (ReduceOp op : pass.reductions)
    roots.push_back(op.getInput());
  for (Sum *sum : pass.sums)
    roots.push_back(sum->op.getInput());
  for (const RowSpace::Output &output : pass.outputs)
    roots.push_back(output.value);
  return roots;
}

/// Decides what passes save. A value is saved when a second pass needs it, by the first.
class Saving {
public:
  Saving(const RowSpace &space, MutableArrayRef<RowPass> passes, int64_t most)
      : space(space), passes(passes), most(most), savedAt(passes.size()) {}

  void run() {
    for (current = 0; current < passes.size(); ++current) {
      seen.clear();
      for (Value root : rootsOf(passes[current]))
        visit(root);
    }
    placeInBuffers();
  }

private:
  /// The passes that write and read a saved value, and those between.
  struct Lifetime {
    size_t first, last;
  };

  void visit(Value value) {
    if (isGiven(value) || !seen.insert(value).second)
      return;
    size_t first = firstPass.try_emplace(value, current).first->second;
    if (first < current && isFull(space, value) && save(value, first))
      return;
    for (Value operand : value.getDefiningOp()->getOperands())
      visit(operand);
  }

  /// From its first pass, or the last that reads it so far, to the current one.
  bool save(Value value, size_t first) {
    auto known = saved.find(value);
    if (known != saved.end())
      first = known->second.last + 1;
    for (size_t pass = first; pass <= current; ++pass)
      if (savedAt[pass] >= most)
        return false;
    llvm::SmallDenseSet<Value> counted;
    if (known == saved.end() && cost(value, counted) < worthSaving)
      return false;
    for (size_t pass = first; pass <= current; ++pass)
      ++savedAt[pass];
    saved.try_emplace(value, Lifetime{first, current}).first->second.last = current;
    return true;
  }

  /// Of one element, up to `worthSaving`: beside values per row, which are computed once.
  int64_t cost(Value value, llvm::SmallDenseSet<Value> &counted) const {
    if (isGiven(value) || saved.contains(value) || !counted.insert(value).second)
      return 0;
    Operation *op = value.getDefiningOp();
    int64_t sum = isFull(space, value) ? weightOf(op) : 0;
    for (Value operand : op->getOperands()) {
      if (sum >= worthSaving)
        break;
      sum += cost(operand, counted);
    }
    return sum;
  }

  void placeInBuffers() {
    SmallVector<size_t> busyUntil; ///< by buffer, the last pass that reads it
    auto all = saved.takeVector();
    llvm::stable_sort(all,
                      [](const auto &a, const auto &b) { return a.second.first < b.second.first; });
    for (auto &[value, lifetime] : all) {
      auto isFree = [&, first = lifetime.first](size_t last) { return last < first; };
      auto place = llvm::find_if(busyUntil, isFree);
      unsigned buffer = place - busyUntil.begin();
      if (place == busyUntil.end())
        busyUntil.push_back(0);
      busyUntil[buffer] = lifetime.last;
      passes[lifetime.first].saves.push_back({value, buffer});
      passes[lifetime.last].forgets.push_back(value);
    }
  }

  const RowSpace &space;
  MutableArrayRef<RowPass> passes;
  const int64_t most;
  size_t current = 0;
  SmallVector<int64_t> savedAt; ///< by pass, how many values are saved then
  llvm::DenseMap<Value, size_t> firstPass;
  llvm::DenseSet<Value> seen;
  llvm::MapVector<Value, Lifetime> saved;
};

} // namespace

std::vector<RowPass> rowPasses(RowSpace &space, int stage, int64_t mostSaved) {
  auto full = space.outputsOf(stage, Extent::full), perRow = space.outputsOf(stage, Extent::row);
  auto sums = space.sumsOf(stage);
  SmallVector<Value> wanted;
  for (const RowSpace::Output &output : llvm::concat<RowSpace::Output>(full, perRow))
    wanted.push_back(output.value);
  for (Sum *sum : sums)
    wanted.push_back(sum->op.getInput());
  auto reductions = space.rowReductionsFor(wanted);
  // A total is reduced along the row too, though nothing in its sweep depends on it.
  for (Sum *sum : sums)
    if (sum->kind == Sum::total)
      reductions.insert(sum->op);

  std::vector<RowPass> passes;
  auto passAt = [&](int level) -> RowPass & {
    if (level >= int(passes.size()))
      passes.resize(level + 1);
    return passes[level];
  };
  for (Operation *op : reductions)
    passAt(space.levelOf(cast<ReduceOp>(op).getInput())).reductions.push_back(cast<ReduceOp>(op));
  for (Sum *sum : sums)
    if (sum->kind == Sum::perColumn)
      passAt(sum->level).sums.push_back(sum);
  for (const RowSpace::Output &output : full)
    passAt(output.level).outputs.push_back(output);
  Saving(space, passes, mostSaved).run();
  return passes;
}

int64_t recomputedFlops(const RowSpace &space, ArrayRef<RowPass> passes,
                        llvm::DenseSet<Value> &computed) {
  double flops = 0;
  llvm::DenseSet<Value> saved, seen;
  SmallVector<Value> open;
  for (const RowPass &pass : passes) {
    seen.clear();
    open = rootsOf(pass);
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (isGiven(value) || saved.contains(value) || !seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (isFull(space, value) && !computed.insert(value).second)
        if (auto costed = dyn_cast<Costed>(op))
          flops += costed.cost().flops;
      llvm::append_range(open, op->getOperands());
    }
    for (const SavedColumns &save : pass.saves)
      saved.insert(save.value);
    for (Value value : pass.forgets)
      saved.erase(value);
  }
  return int64_t(flops);
}

} // namespace weir
