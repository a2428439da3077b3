//===- AccumulateGradients.cpp - A gradient in every microbatch -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs before autodiff, which differentiates the ops of one block. A loss is linear in its sums. So
// the gradient of a loss over all microbatches is the sum of the gradients of their shares:
//
//   %s, %n = weir.microbatches .. {              %n = weir.microbatches .. { the counts }
//     weir.yield %a, %b }                        %g, %s = weir.microbatches .. {
//   %l = weir.loss [w] sums(%s) counts(%n)  ->     %share = w * %a / %n, or 0 where %n is 0
//   %g = weir.gradient %l wrt(%p)                  %h = weir.gradient %share wrt(%p)
//                                                  weir.yield %h, %a }
//                                                %l = w * %s / %n
//
// Shares are divided by the counts of the whole step. If the body computes the counts, a first loop
// computes them, with a copy of the body that contains nothing else. A step of one microbatch is
// inlined instead.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "passes/recipe/Scalars.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Replaces an op of one microbatch by its body.
void inlineSingle(MicrobatchesOp op) {
  Block &body = op.getBody().front();
  OpBuilder builder(op);
  SmallVector<Value> arguments{ConstantOp::create(builder, op.getLoc(), tensorType(op.round()), 0)};
  llvm::append_range(arguments, op.getSliced());
  llvm::append_range(arguments, op.getCarried());
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  op->replaceAllUsesWith(body.getTerminator()->getOperands());
  body.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op.erase();
}

/// Whether a count is known to be nonzero: a constant, or the sum of such over microbatches.
bool isNeverZero(Value count) {
  if (auto op = count.getDefiningOp<MicrobatchesOp>()) {
    unsigned number = cast<OpResult>(count).getResultNumber();
    return number < op.numSums() &&
           isNeverZero(op.getBody().front().getTerminator()->getOperand(number));
  }
  auto constant = count.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && !number.getValue().isZero();
}

/// sum / count; 0 if the count is 0. Its gradient is then 0 as well, for any sum.
Value ratioOf(OpBuilder &builder, Location place, Value sum, Value count) {
  if (isNeverZero(count))
    return DivOp::create(builder, place, sum, count);
  Value zero = scalar(builder, place, 0), one = scalar(builder, place, 1);
  Value isZero = CompareOp::create(builder, place, Predicate::eq, count, zero);
  Value divisor = SelectOp::create(builder, place, count.getType(), isZero, one, count);
  Value ratio = DivOp::create(builder, place, sum, divisor);
  return SelectOp::create(builder, place, ratio.getType(), isZero, zero, ratio);
}

/// The loss as arithmetic on given sums and counts.
Value expandLoss(OpBuilder &builder, LossOp op, ValueRange sums, ValueRange counts) {
  Location place = op.getLoc();
  Value total;
  for (auto [weight, sum, count] : llvm::zip_equal(op.getWeights(), sums, counts)) {
    Value part = ratioOf(builder, place, sum, count);
    if (weight != 1)
      part = MulOp::create(builder, place, part, scalar(builder, place, weight));
    total = total ? AddOp::create(builder, place, total, part) : part;
  }
  return total;
}

/// Creates microbatches with the body of others and these results.
MicrobatchesOp replaceBody(OpBuilder &builder, MicrobatchesOp op, Region &body,
                           ValueRange carried) {
  auto made =
      MicrobatchesOp::create(builder, op.getLoc(), body.front().getTerminator()->getOperandTypes(),
                             op.getCount(), op.getSliced(), carried);
  made.getBody().takeBody(body);
  return made;
}

/// The carried values, by number, on which values of a body depend, in this round or an earlier
/// one.
llvm::SetVector<unsigned> carriedBehind(MicrobatchesOp op, SmallVector<Value> open) {
  unsigned first = 1 + op.getSliced().size();
  Operation *yield = op.getBody().front().getTerminator();
  llvm::SetVector<unsigned> found;
  llvm::DenseSet<Operation *> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (Operation *maker = value.getDefiningOp()) {
      if (maker->getBlock() == yield->getBlock() && seen.insert(maker).second)
        llvm::append_range(open, maker->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    if (argument.getOwner() != yield->getBlock() || argument.getArgNumber() < first)
      continue;
    unsigned number = argument.getArgNumber() - first;
    if (found.insert(number))
      open.push_back(yield->getOperand(op.numSums() + number));
  }
  return found;
}

/// Moves some sums of an op to microbatches of their own before it, with only the carried values on
/// which they depend. Parameters stay behind, because no gradient flows through this op.
MicrobatchesOp sumsAlone(MicrobatchesOp op, ArrayRef<unsigned> sums) {
  OpBuilder builder(op);
  IRMapping mapping;
  Region body;
  op.getBody().cloneInto(&body, mapping);
  Operation *yield = body.front().getTerminator();
  unsigned first = 1 + op.getSliced().size();
  SmallVector<Value> yielded, carried, wanted;
  for (unsigned sum : sums) {
    wanted.push_back(op.getBody().front().getTerminator()->getOperand(sum));
    yielded.push_back(yield->getOperand(sum));
  }
  auto needed = carriedBehind(op, wanted);
  for (unsigned i = 0; i < op.getCarried().size(); ++i)
    if (needed.contains(i)) {
      yielded.push_back(yield->getOperand(op.numSums() + i));
      carried.push_back(op.getCarried()[i]);
    }
  for (unsigned i = op.getCarried().size(); i-- > 0;)
    if (!needed.contains(i)) {
      // Users that are dead ops.
      body.getArgument(first + i).replaceAllUsesWith(op.getCarried()[i]);
      body.eraseArgument(first + i);
    }
  yield->setOperands(yielded);
  return replaceBody(builder, op, body, carried);
}

/// Moves a gradient into the microbatches that compute the sums of its loss.
class Accumulation {
public:
  Accumulation(GradientOp gradient, LossOp loss, MicrobatchesOp op)
      : gradient(gradient), loss(loss), op(op) {}

  LogicalResult run() {
    Block &body = op.getBody().front();
    Operation *yield = body.getTerminator();
    // Before the counts move: a count that is also a sum then belongs to another op.
    SmallVector<Value> shares;
    for (Value sum : loss.getSums())
      shares.push_back(yield->getOperand(cast<OpResult>(sum).getResultNumber()));
    takeCounts();
    SmallVector<Value> outside(loss.getCounts());
    llvm::append_range(outside, gradient.getSources());
    IRRewriter rewriter(op.getContext());
    if (failed(moveValueDefinitions(rewriter, outside, op)))
      return gradient.emitOpError("is taken with respect to what its microbatches compute");

    OpBuilder builder(yield);
    Value share = expandLoss(builder, loss, shares, loss.getCounts());
    auto inside = GradientOp::create(builder, gradient.getLoc(), share, gradient.getSources());
    // Removes unused results: the counts have been summed already.
    SmallVector<Value> yielded(inside.getGradients()), replaced(gradient.getGradients());
    for (OpResult result : op->getResults())
      if (result.getResultNumber() >= op.numSums() || !result.use_empty()) {
        yielded.push_back(yield->getOperand(result.getResultNumber()));
        replaced.push_back(result);
      }
    yield->setOperands(yielded);
    builder.setInsertionPoint(op);
    auto made = replaceBody(builder, op, op.getBody(), op.getCarried());
    for (auto [old, result] : llvm::zip_equal(replaced, made.getResults()))
      old.replaceAllUsesWith(result);
    gradient.erase();
    op.erase();
    return success();
  }

private:
  void takeCounts() {
    llvm::SetVector<unsigned> counts;
    for (Value count : loss.getCounts())
      if (count.getDefiningOp() == op)
        counts.insert(cast<OpResult>(count).getResultNumber());
    if (counts.empty())
      return;
    MicrobatchesOp first = sumsAlone(op, counts.getArrayRef());
    for (auto [number, count] : llvm::zip(counts, first.getResults()))
      op.getResult(number).replaceAllUsesWith(count);
  }

  GradientOp gradient;
  LossOp loss;
  MicrobatchesOp op;
};

/// The microbatches that compute all sums of a loss; null if there are none.
MicrobatchesOp microbatchesOf(LossOp loss) {
  auto op = loss.getSums().front().getDefiningOp<MicrobatchesOp>();
  auto isSum = [&](Value sum) {
    return sum.getDefiningOp() == op && cast<OpResult>(sum).getResultNumber() < op.numSums();
  };
  return op && llvm::all_of(loss.getSums(), isSum) ? op : MicrobatchesOp();
}

struct AccumulateGradients : weir::impl::AccumulateGradientsBase<AccumulateGradients> {
  void runOnOperation() override {
    bool any = getOperation()
                   .walk([](Operation *op) {
                     return isa<MicrobatchesOp, LossOp>(op) ? WalkResult::interrupt()
                                                            : WalkResult::advance();
                   })
                   .wasInterrupted();
    if (!any)
      return markAllAnalysesPreserved();
    getOperation().walk([](MicrobatchesOp op) {
      if (op.getCount() == 1)
        inlineSingle(op);
    });
    SmallVector<GradientOp> gradients;
    getOperation().walk([&](GradientOp gradient) { gradients.push_back(gradient); });
    for (GradientOp gradient : gradients)
      if (auto loss = gradient.getLoss().getDefiningOp<LossOp>())
        if (MicrobatchesOp op = microbatchesOf(loss))
          if (failed(Accumulation(gradient, loss, op).run()))
            return signalPassFailure();
    getOperation().walk([](LossOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(expandLoss(builder, op, op.getSums(), op.getCounts()));
      op.erase();
    });
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation().getBody());
  }
};

} // namespace
