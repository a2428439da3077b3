//===- Magnitudes.cpp - Maxima of magnitudes as whole numbers -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of floats without a sign have the floats' order, with NaN above all of them, and those
// of minus infinity, where a maximum starts, are a negative number.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace weir {
namespace {

/// Whether a float is a magnitude or minus infinity. A value that is in question already counts as
/// one: each answer asks for all of some others, so that one that is none ends the whole question.
class Magnitudes {
public:
  static bool contain(Value value) { return Magnitudes().has(value); }

private:
  bool has(Value value) {
    if (!inQuestion.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      return init && has(init->get()) && has(loop.getTiedLoopYieldedValue(argument)->get());
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return has(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      return has(choice.getTrueValue()) && has(choice.getFalseValue());
    if (isa<arith::MaximumFOp, vector::BroadcastOp, vector::ExtractStridedSliceOp>(op))
      return llvm::all_of(op->getOperands(), [&](Value operand) { return has(operand); });
    return isa<math::AbsFOp>(op) || isStart(value);
  }

  /// A constant that is none of the negative numbers, but minus infinity, nor minus zero.
  static bool isStart(Value value) {
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    return number && (number.getValue().isInfinity() || !number.getValue().isNegative());
  }

  llvm::DenseSet<Value> inQuestion;
};

Value wholeOf(OpBuilder &builder, Value real) {
  auto type = cast<VectorType>(real.getType());
  Type whole = builder.getIntegerType(type.getElementTypeBitWidth());
  return arith::BitcastOp::create(builder, real.getLoc(), type.clone(whole), real);
}

} // namespace

void compareMagnitudes(ModuleOp module) {
  SmallVector<arith::MaximumFOp> maxima;
  SmallVector<vector::ReductionOp> reductions;
  module.walk([&](Operation *op) {
    if (auto maximum = dyn_cast<arith::MaximumFOp>(op);
        maximum && isa<VectorType>(maximum.getType()) && Magnitudes::contain(maximum))
      maxima.push_back(maximum);
    if (auto reduction = dyn_cast<vector::ReductionOp>(op);
        reduction && reduction.getKind() == vector::CombiningKind::MAXIMUMF &&
        !reduction.getAcc() && Magnitudes::contain(reduction.getVector()))
      reductions.push_back(reduction);
  });
  auto replace = [](OpBuilder &builder, Operation *op, Value whole) {
    Type type = op->getResult(0).getType();
    op->replaceAllUsesWith(arith::BitcastOp::create(builder, op->getLoc(), type, whole));
    op->erase();
  };
  for (arith::MaximumFOp op : maxima) {
    OpBuilder builder(op);
    Value a = wholeOf(builder, op.getLhs()), b = wholeOf(builder, op.getRhs());
    replace(builder, op, arith::MaxSIOp::create(builder, op.getLoc(), a, b));
  }
  for (vector::ReductionOp op : reductions) {
    OpBuilder builder(op);
    Value all = wholeOf(builder, op.getVector());
    replace(builder, op,
            vector::ReductionOp::create(builder, op.getLoc(), vector::CombiningKind::MAXSI, all));
  }
}

} // namespace weir
