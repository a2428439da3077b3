//===- Shrink.cpp - The small program behind a failure --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every way to make a program smaller has a number, counted over the whole module in a fixed order,
// the large steps first. A step that keeps the failure is kept, and the count goes on from there.
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Shrink.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace weir::smith {
namespace {

/// Drops what nothing refers to. What is left draws the same numbers as before: they go by name.
void clean(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    (void)runRegionDCE(rewriter, function.getBody());
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (function.getArgument(i).use_empty())
        (void)function.eraseArgument(i);
  }
  for (auto variable : llvm::make_early_inc_range(module.getOps<VariableOp>())) {
    bool used = variable.getRole() == Role::run;
    module.walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op))
        used |= read.getVariable() == variable.getSymName();
      if (auto write = dyn_cast<WriteOp>(op))
        used |= write.getVariable() == variable.getSymName();
    });
    if (!used)
      variable.erase();
  }
}

/// Makes one step, the one with the number it is given.
class Step {
public:
  explicit Step(unsigned number) : left(number) {}

  /// Whether there is a step of that number; the module has changed then.
  bool take(ModuleOp module) {
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.getSymName() != "step" && mine()) // the runtime wants one
        return function.erase(), true;
    for (func::FuncOp function : functions)
      if (takeResults(function))
        return true;
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (isa<WriteOp>(op) && mine())
        return op->erase(), true;
    for (Operation *op : ops)
      if (auto rounds = dyn_cast<MicrobatchesOp>(op); rounds && takeRounds(rounds))
        return true;
    for (Operation *op : ops)
      if (auto gradient = dyn_cast<GradientOp>(op); gradient && takeSource(gradient))
        return true;
    for (Operation *op : llvm::reverse(ops))
      if (takeOp(op))
        return true;
    return false;
  }

private:
  bool mine() { return left-- == 0; }

  /// A run of results: first all of them, then halves, down to one.
  bool takeResults(func::FuncOp function) {
    unsigned count = function.getNumResults();
    for (unsigned chunk = count; chunk > 0; chunk /= 2)
      for (unsigned first = 0; first + chunk <= count; first += chunk)
        if (mine()) {
          llvm::BitVector erased(count);
          erased.set(first, first + chunk);
          Operation *end = function.getBody().front().getTerminator();
          end->eraseOperands(erased);
          (void)function.eraseResults(erased);
          return true;
        }
    return false;
  }

  /// The first round alone, or one result less.
  bool takeRounds(MicrobatchesOp op) {
    Block &body = op.getBody().front();
    OpBuilder builder(op);
    if (mine()) {
      IRMapping mapping;
      mapping.map(op.round(),
                  ConstantOp::create(builder, op.getLoc(), tensorType(op.round()), 0.0));
      for (auto [i, whole] : llvm::enumerate(op.getSliced())) {
        Value part = body.getArgument(1 + i);
        Shape zeros(shapeOf(part).size(), 0), ones(shapeOf(part).size(), 1);
        mapping.map(part,
                    SliceOp::create(builder, op.getLoc(), part.getType(), whole, zeros, ones));
      }
      for (auto [i, start] : llvm::enumerate(op.getCarried()))
        mapping.map(body.getArgument(1 + op.getSliced().size() + i), start);
      for (Operation &inner : body.without_terminator())
        builder.clone(inner, mapping);
      for (auto [result, value] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(mapping.lookupOrDefault(value));
      op.erase();
      return true;
    }
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (op.getResult(i).use_empty() && mine())
        return dropResult(op, i), true;
    return false;
  }

  static void dropResult(MicrobatchesOp op, unsigned dropped) {
    Block &body = op.getBody().front();
    OpBuilder builder(op);
    unsigned sums = op.numSums();
    SmallVector<Value> carried(op.getCarried());
    body.getTerminator()->eraseOperand(dropped);
    if (dropped >= sums) {
      unsigned which = dropped - sums;
      BlockArgument argument = body.getArgument(1 + op.getSliced().size() + which);
      argument.replaceAllUsesWith(carried[which]);
      body.eraseArgument(argument.getArgNumber());
      carried.erase(carried.begin() + which);
    }
    SmallVector<Type> types;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (i != dropped)
        types.push_back(op.getResult(i).getType());
    auto made =
        MicrobatchesOp::create(builder, op.getLoc(), types, op.getCount(), op.getSliced(), carried);
    made.getBody().takeBody(op.getBody());
    for (unsigned i = 0, next = 0; i < op.getNumResults(); ++i)
      if (i != dropped)
        op.getResult(i).replaceAllUsesWith(made.getResult(next++));
    op.erase();
  }

  /// One source less of a gradient; nobody uses its result.
  bool takeSource(GradientOp op) {
    for (unsigned i = 0; op.getNumResults() > 1 && i < op.getNumResults(); ++i)
      if (op.getResult(i).use_empty() && mine()) {
        SmallVector<Value> sources(op.getSources());
        sources.erase(sources.begin() + i);
        OpBuilder builder(op);
        auto made = GradientOp::create(builder, op.getLoc(), op.getLoss(), sources);
        for (unsigned j = 0, next = 0; j < op.getNumResults(); ++j)
          if (j != i)
            op.getResult(j).replaceAllUsesWith(made.getResult(next++));
        op.erase();
        return true;
      }
    return false;
  }

  /// Another value in the place of an op's results.
  bool takeOp(Operation *op) {
    if (op->getNumResults() == 0 || isa<MicrobatchesOp, ConstantOp, GradientOp>(op))
      return false;
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType() && mine())
        return op->getResult(0).replaceAllUsesWith(operand), true;
    bool source = isa<ReadOp>(op);
    for (Value result : op->getResults())
      if (!source && !result.use_empty() && mine()) {
        OpBuilder builder(op);
        auto type = tensorType(result);

        result.replaceAllUsesWith(ConstantOp::create(builder, op->getLoc(), type, 1.0));
        return true;
      }
    return false;
  }

  unsigned left;
};

size_t sizeOf(ModuleOp module) {
  size_t size = 0;
  module.walk([&](Operation *op) { size += 1 + op->getNumOperands() + op->getNumResults(); });
  return size;
}

} // namespace

OwningOpRef<ModuleOp> shrink(ModuleOp module, llvm::function_ref<bool(ModuleOp)> stillFails,
                             int budget) {
  OwningOpRef<ModuleOp> best(module.clone());
  for (bool progress = true; progress && budget > 0;) {
    progress = false;
    for (unsigned number = 0; budget > 0;) {
      OwningOpRef<ModuleOp> next(best->clone());
      if (!Step(number).take(*next))
        break;
      clean(*next);
      bool smaller = succeeded(verify(*next)) && sizeOf(*next) < sizeOf(*best);
      if (smaller && --budget >= 0 && stillFails(*next)) {
        best = std::move(next);
        progress = true;
      } else {
        ++number;
      }
    }
  }
  return best;
}

} // namespace weir::smith
