//===- SkipSteps.cpp - Skips a step that is not finite --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after autodiff and clipping, when all new values of the step have ops. Runs before fusion,
// which computes the new values a second time after the decision
// (passes/fusion/RecomputeUpdates.cpp):
//
//   %f = weir.all_finite %loss, %w1    ->    %bad = the sum over %w1 of not is_finite
//   weir.write @w, %w1 if %f                 %f = %bad == 0 and is_finite %loss
//                                            weir.write @w, select(%f, %w1, %w)
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Phase.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"
#include "passes/recipe/Scalars.h"
#include "llvm/ADT/StringMap.h"

namespace weir {
#define GEN_PASS_DEF_SKIPSTEPS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Decides one weir.all_finite. Counts non-finite elements, because a count is always finite. A
/// variable and its optimizer states of the same type share one sum.
class Decision {
public:
  Decision(AllFiniteOp op, const llvm::StringMap<Role> &roles)
      : op(op), place(op.getLoc()), phase(phaseOf(op)), builder(op, &phase), roles(roles) {
    for (Operation *user : op->getUsers())
      if (auto write = dyn_cast<WriteOp>(user))
        writes.try_emplace(write.getValue(), write);
  }

  Value build() {
    SmallVector<Value> written, scalars;
    for (Value value : op.getValues())
      (writes.contains(value) || !shapeOf(value).empty() ? written : scalars).push_back(value);
    // The count comes first: what is known before it then waits for it, and nothing that it waits
    // for ends in one kernel with what does not.
    Value finite;
    if (Value bad = count(written))
      finite = CompareOp::create(builder, place, Predicate::eq, bad, scalar(builder, place, 0));
    for (Value one : scalars)
      finite = finite ? both(finite, isFinite(one)) : isFinite(one);
    if (!finite)
      finite = ConstantOp::create(builder, place, op.getType(), builder.getBoolAttr(true));
    return finite;
  }

private:
  Value count(ArrayRef<Value> values) {
    Value total;
    while (!values.empty()) {
      RankedTensorType type = tensorType(values.front());
      Value good = isFinite(values.front());
      for (values = values.drop_front();
           !values.empty() && values.front().getType() == type && isOptimizers(values.front());
           values = values.drop_front())
        good = both(good, isFinite(values.front()));
      Value bad = NotOp::create(builder, place, good);
      Value ones = CastOp::create(builder, place, type, bad);
      Value sum = sumOfAll(builder, place, ones);
      total = total ? AddOp::create(builder, place, total, sum) : sum;
    }
    return total;
  }

  bool isOptimizers(Value value) const {
    WriteOp write = writes.lookup(value);
    return write && roles.lookup(write.getVariable()) == Role::optimizer;
  }
  Value isFinite(Value value) { return IsFiniteOp::create(builder, place, value); }
  Value both(Value a, Value b) { return AndOp::create(builder, place, a, b); }

  AllFiniteOp op;
  Location place;
  PhaseListener phase;
  OpBuilder builder;
  const llvm::StringMap<Role> &roles;
  llvm::DenseMap<Value, WriteOp> writes;
};

struct SkipSteps : weir::impl::SkipStepsBase<SkipSteps> {
  void runOnOperation() override {
    llvm::StringMap<Value> reads;
    SmallVector<WriteOp> writes;
    SmallVector<AllFiniteOp> asked;
    Block &block = getOperation().getBody().front();
    getOperation().walk([&](Operation *op) {
      if (auto finite = dyn_cast<AllFiniteOp>(op))
        asked.push_back(finite);
      else if (op->getBlock() != &block)
        return;
      else if (auto read = dyn_cast<ReadOp>(op))
        reads.try_emplace(read.getVariable(), read);
      else if (auto write = dyn_cast<WriteOp>(op); write && write.getCondition())
        writes.push_back(write);
    });
    if (asked.empty() && writes.empty())
      return markAllAnalysesPreserved();
    llvm::StringMap<Role> roles;
    if (auto module = getOperation()->getParentOfType<ModuleOp>())
      for (auto variable : module.getOps<VariableOp>())
        roles[variable.getSymName()] = variable.getRole();
    for (AllFiniteOp op : asked) {
      op.replaceAllUsesWith(Decision(op, roles).build());
      op.erase();
    }
    for (WriteOp write : writes)
      select(write, reads);
  }

  /// A write under a condition writes the old value if the condition is false.
  static void select(WriteOp write, llvm::StringMap<Value> &reads) {
    Value condition = write.getCondition();
    PhaseListener phase(phaseOf(write));
    OpBuilder builder(write, &phase);
    RankedTensorType type = tensorType(write.getValue());
    Value &old = reads[write.getVariable()];
    if (!old) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(write->getBlock());
      old = ReadOp::create(builder, write.getLoc(), type, write.getVariable());
    }
    Value wide = spread(builder, condition.getLoc(), condition, type.getShape());
    Value value = SelectOp::create(builder, write.getLoc(), type, wide, write.getValue(), old);
    write.getValueMutable().assign(value);
    write.getConditionMutable().clear();
  }
};

} // namespace
