//===- Verify.cpp - Verifiers of variables, gradients and regions --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Regions.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/program/Yield.h"

using namespace mlir;

namespace weir {

// C1 of read and write.
static LogicalResult verifyVariable(Operation *op, SymbolTableCollection &symbols,
                                    FlatSymbolRefAttr name, Type type) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError() << "names no variable: " << name;
  if (variable.getType() != type) {
    auto error = op->emitOpError()
                 << "has type " << type << ", but the variable is " << variable.getType();
    error.attachNote(variable.getLoc()) << "the variable";
    return error;
  }
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  return verifyVariable(*this, symbols, getVariableAttr(), getResult().getType());
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  if (failed(verifyVariable(*this, symbols, getVariableAttr(), getValue().getType())))
    return failure();
  // C2: the block's last write looks at all of them, so that a block is gone through but twice.
  for (Operation *next = (*this)->getNextNode(); next; next = next->getNextNode())
    if (isa<WriteOp>(next))
      return success();
  llvm::DenseMap<Attribute, WriteOp> first;
  for (WriteOp write : (*this)->getBlock()->getOps<WriteOp>()) {
    auto [place, isNew] = first.try_emplace(write.getVariableAttr(), write);
    if (isNew)
      continue;
    auto error = write.emitOpError() << "is a second write of " << write.getVariableAttr();
    error.attachNote(place->second.getLoc()) << "the first";
    return error;
  }
  return success();
}

LogicalResult GradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, op.getSources().getTypes());
  return success();
}

LogicalResult GradientOp::verify() {
  // C1
  if (getSources().getTypes() != getGradients().getTypes())
    return emitOpError("needs one result of equal type for each source");
  return success();
}

LogicalResult expectTypes(Operation *op, StringRef what, TypeRange types, TypeRange expected) {
  if (types.size() != expected.size())
    return op->emitOpError() << "needs " << expected.size() << " " << what << ", but has "
                             << types.size();
  for (auto [i, type, other] : llvm::enumerate(types, expected))
    if (type != other)
      return op->emitOpError() << "has type " << type << " for number " << i << " of its " << what
                               << ", which should be " << other;
  return success();
}

YieldOp yieldOf(Operation *op) {
  Block &block = op->getRegion(0).front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    op->emitOpError("needs a body that ends in weir.yield");
  return yield;
}

LogicalResult MicrobatchesOp::verify() {
  // C1
  if (getCount() <= 0)
    return emitOpError("needs a positive count");
  // C3
  if (getOperation()->getParentOfType<MicrobatchesOp>())
    return emitOpError("cannot stand inside other microbatches");
  SmallVector<Type> arguments{RankedTensorType::get({}, IntegerType::get(getContext(), 32))};
  for (Value value : getSliced()) {
    Shape shape(shapeOf(value));
    if (shape.empty() || shape[0] % getCount() != 0)
      return emitOpError() << "cannot cut " << printed(shape) << " into " << getCount()
                           << " equal parts";
    shape[0] /= getCount();
    arguments.push_back(typeLike(value, shape));
  }
  // C2
  llvm::append_range(arguments, getCarried().getTypes());
  if (failed(
          expectTypes(*this, "block arguments", getBody().front().getArgumentTypes(), arguments)))
    return failure();
  YieldOp yield = yieldOf(*this);
  if (!yield ||
      failed(expectTypes(*this, "yielded values", yield.getValues().getTypes(), getResultTypes())))
    return failure();
  if (getNumResults() < getCarried().size())
    return emitOpError("needs a result for each carried value");
  return expectTypes(*this, "carried values", getCarried().getTypes(),
                     getResults().drop_front(numSums()).getTypes());
}

} // namespace weir
