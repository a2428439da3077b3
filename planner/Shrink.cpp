//===- Shrink.cpp - A model with fewer layers -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Shrink.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/requests/Blocks.h"
#include "ir/weir/requests/ShardingConstraints.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weir::planner {
namespace {

/// The block in which a step computes its loss, once per microbatch.
Block *bodyOf(ModuleOp model) {
  auto step = model.lookupSymbol<func::FuncOp>("step");
  Block *body = nullptr;
  if (step)
    step.walk([&](MicrobatchesOp op) {
      body = &op.getBody().front();
      return WalkResult::interrupt();
    });
  return body;
}

class Line {
public:
  explicit Line(Block &body) {
    for (Operation &op : body.without_terminator()) {
      placeOf[&op] = ops.size();
      ops.push_back(&op);
      hashes.push_back(hashOf(&op));
    }
  }

  size_t size() const { return ops.size(); }

  /// Whether the ops at these positions compute the same function of the op results at the same
  /// distance before them.
  bool same(size_t first, size_t second) const {
    if (hashes[first] != hashes[second])
      return false;
    Operation *a = ops[first], *b = ops[second];
    if (a->getName() != b->getName() || a->getResultTypes() != b->getResultTypes() ||
        attributesOf(a) != attributesOf(b))
      return false;
    return llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()), [&](auto both) {
      auto [of, to] = both;
      if (of == to)
        return true;
      auto before = place(of), behind = place(to);
      if (before && behind)
        return *behind - *before == second - first &&
               cast<OpResult>(of).getResultNumber() == cast<OpResult>(to).getResultNumber();
      return !before && !behind && of.getType() == to.getType() && isRead(of) && isRead(to);
    });
  }

private:
  /// The properties that distinguish ops besides their operands: random numbers differ only by
  /// their keys.
  static DictionaryAttr attributesOf(Operation *op) {
    NamedAttrList all(op->getAttrDictionary());
    all.erase("key");
    return all.getDictionary(op->getContext());
  }

  static llvm::hash_code hashOf(Operation *op) {
    llvm::hash_code types = llvm::hash_combine_range(op->getResultTypes());
    llvm::hash_code operands = llvm::hash_combine_range(op->getOperandTypes());
    return llvm::hash_combine(op->getName(), types, operands);
  }

  static bool isRead(Value value) { return value.getDefiningOp<ReadOp>() != nullptr; }

  std::optional<size_t> place(Value value) const {
    auto found = placeOf.find(value.getDefiningOp());
    return found == placeOf.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<Operation *> ops;
  std::vector<llvm::hash_code> hashes;
  llvm::DenseMap<Operation *, size_t> placeOf;
};

/// Removes the ops that depend on some variables from a step.
class Pruner {
public:
  explicit Pruner(llvm::StringSet<> gone) : gone(std::move(gone)) {}

  void run(Block &step) {
    for (Operation &op : llvm::make_early_inc_range(step)) {
      if (auto read = dyn_cast<ReadOp>(op); read && gone.contains(read.getVariable()))
        taint(&op);
      else if (auto write = dyn_cast<WriteOp>(op); write && gone.contains(write.getVariable()))
        dead.push_back(&op);
      else if (llvm::any_of(op.getOperands(),
                            [&](Value operand) { return tainted.contains(operand); }))
        visit(&op);
    }
    for (Operation *op : llvm::reverse(dead)) {
      op->dropAllUses();
      op->erase();
    }
    // Also ops without uses now, such as factors of removed values.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  void taint(Operation *op) {
    tainted.insert_range(op->getResults());
    dead.push_back(op);
  }

  SmallVector<Value> left(ValueRange values) const {
    SmallVector<Value> all;
    llvm::copy_if(values, std::back_inserter(all),
                  [&](Value value) { return !tainted.contains(value); });
    return all;
  }

  /// Replaces those of `results` whose operands remain by the results of another op, in order.
  void hand(ResultRange results, OperandRange operands, ResultRange others) {
    size_t next = 0;
    for (auto [result, operand] : llvm::zip_equal(results, operands))
      if (tainted.contains(operand))
        tainted.insert(result);
      else
        result.replaceAllUsesWith(others[next++]);
  }

  void visit(Operation *op) {
    OpBuilder builder(op);
    if (auto gradient = dyn_cast<GradientOp>(op)) {
      SmallVector<Value> sources = left(gradient.getSources());
      auto made = GradientOp::create(builder, op->getLoc(), gradient.getLoss(), sources);
      hand(gradient->getResults(), gradient.getSources(), made->getResults());
      dead.push_back(op);
    } else if (auto clip = dyn_cast<ClipOp>(op)) {
      SmallVector<Value> gradients = left(clip.getGradients());
      SmallVector<Type> types = {clip.getNorm().getType()};
      if (clip.getLimit())
        llvm::append_range(types, ValueRange(gradients).getTypes());
      auto made = ClipOp::create(builder, op->getLoc(), types, gradients, clip.getLimit());
      clip.getNorm().replaceAllUsesWith(made.getNorm());
      if (clip.getLimit())
        hand(clip.getClipped(), clip.getGradients(), made.getClipped());
      dead.push_back(op);
    } else if (auto finite = dyn_cast<AllFiniteOp>(op)) {
      finite.getValuesMutable().assign(left(finite.getValues()));
    } else {
      taint(op);
    }
  }

  const llvm::StringSet<> gone;
  llvm::DenseSet<Value> tainted;
  SmallVector<Operation *> dead;
};

/// The number of blocks of each pattern in a microbatch.
std::map<std::string, double> timesOfBlocks(ModuleOp model) {
  std::map<std::string, double> times;
  std::set<std::string> paths;
  for (Operation &op : *bodyOf(model))
    for (StringRef path = instancePath(op.getLoc());
         !path.empty() && paths.insert(path.str()).second; path = pathAround(path))
      ++times[patternOf(path)];
  return times;
}

} // namespace

Repeats repeatsOf(ModuleOp model) {
  Repeats best;
  Block *body = bodyOf(model);
  if (!body)
    return best;
  const Line line(*body);
  size_t covered = 0;
  for (size_t period = 1; period <= line.size() / 2; ++period) {
    // The longest range in which each op equals the one a period before.
    Repeats longest;
    size_t length = 0;
    for (size_t i = 0; i + period < line.size(); ++i) {
      length = line.same(i, i + period) ? length + 1 : 0;
      if (int64_t rounds = int64_t(length / period) + 1; rounds > longest.rounds)
        longest = {i + 1 - length, period, rounds};
    }
    // A multiple of the period has the same repetitions, grouped.
    size_t covers = size_t(longest.rounds) * period;
    if (longest.rounds > 1 && covers > covered + covered / 10) {
      covered = covers;
      best = longest;
    }
  }
  return best;
}

OwningOpRef<ModuleOp> shrunk(ModuleOp model, const Repeats &repeats, int64_t rounds) {
  OwningOpRef<ModuleOp> module(model.clone());
  for (auto entry : llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
    if (entry.getSymName() != "step")
      entry.erase();
  Block *body = bodyOf(*module);
  if (!body || rounds >= repeats.rounds)
    return module;
  std::vector<Operation *> ops;
  for (Operation &op : body->without_terminator())
    ops.push_back(&op);
  // Removes the repetitions after the first one that is kept; their users read its results instead.
  size_t begin = repeats.begin + repeats.period;
  size_t end = begin + size_t(repeats.rounds - rounds) * repeats.period;
  llvm::StringSet<> gone;
  for (size_t i = begin; i < end; ++i) {
    Operation *first = ops[repeats.begin + (i - begin) % repeats.period];
    for (auto [result, other] : llvm::zip_equal(ops[i]->getResults(), first->getResults()))
      result.replaceUsesWithIf(other, [&](OpOperand &use) {
        Operation *user = use.getOwner();
        return user->getBlock() != body || user == body->getTerminator() ||
               (end < ops.size() && !user->isBeforeInBlock(ops[end]));
      });
    for (Value operand : ops[i]->getOperands())
      if (auto read = operand.getDefiningOp<ReadOp>())
        gone.insert(read.getVariable());
  }
  for (size_t i = end; i-- > begin;)
    ops[i]->erase();
  // Ops that others read stay, too.
  auto step = module->lookupSymbol<func::FuncOp>("step");
  step.walk([&](ReadOp read) {
    if (llvm::any_of(read->getUsers(), [&](Operation *user) { return user->getBlock() == body; }))
      gone.erase(read.getVariable());
  });
  llvm::StringSet<> all = gone;
  for (auto variable : module->getOps<VariableOp>())
    if (variable.getRole() == Role::optimizer)
      if (auto [what, of] = variable.getSymName().split('/'); gone.contains(of))
        all.insert(variable.getSymName());
  Pruner(all).run(step.front());
  for (auto variable : llvm::make_early_inc_range(module->getOps<VariableOp>()))
    if (all.contains(variable.getSymName()))
      variable.erase();
  if (SmallVector<ShardingConstraint> pins = shardingConstraints(*module); !pins.empty()) {
    llvm::erase_if(pins,
                   [&](const ShardingConstraint &pin) { return all.contains(pin.parameter); });
    setShardingConstraints(*module, pins);
  }
  // Shardings are chosen as for the whole model.
  std::map<std::string, double> before = timesOfBlocks(model), left = timesOfBlocks(*module);
  NamedAttrList standsFor;
  Builder builder(model.getContext());
  for (const auto &[pattern, count] : before)
    if (double of = left[pattern]; of > 0 && count > of)
      standsFor.set(pattern, builder.getF64FloatAttr(count / of));
  (*module)->setAttr(standsForAttrName, standsFor.getDictionary(model.getContext()));
  return module;
}

} // namespace weir::planner
