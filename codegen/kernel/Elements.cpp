//===- Elements.cpp - The elements of a kernel's tensors ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Elements.h"
#include "ir/weir/structure/Structure.h"

#include "ir/weir/interfaces/Elements.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weir {

/// What a scalar is in memory.
static Type storedType(Type scalar) {
  return scalar.isInteger(1) ? IntegerType::get(scalar.getContext(), 8) : scalar;
}

static Value addressOf(OpBuilder &builder, Location loc, const Buffer &buffer, Value position) {
  Type stored = storedType(buffer.element);
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), position);
  return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), stored,
                             buffer.pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value loadElement(OpBuilder &builder, Location loc, const Buffer &buffer, Value position) {
  Type stored = storedType(buffer.element);
  Value address = addressOf(builder, loc, buffer, position);
  auto load = LLVM::LoadOp::create(builder, loc, stored, address, storedBytes(buffer.element));
  if (buffer.input >= 0)
    load->setAttr(constantLoadName, builder.getUnitAttr());
  if (!buffer.element.isInteger(1))
    return load;
  Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, load, zero);
}

void storeElement(OpBuilder &builder, Location loc, const Buffer &buffer, Value position,
                  Value scalar) {
  if (buffer.element.isInteger(1))
    scalar = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), scalar);
  Value address = addressOf(builder, loc, buffer, position);
  LLVM::StoreOp::create(builder, loc, scalar, address, storedBytes(buffer.element));
}

Value Elements::fail(Value tensor, const Twine &why) {
  if (!failure)
    emitError(tensor.getDefiningOp() ? tensor.getDefiningOp()->getLoc() : loc) << why;
  failure = true;
  Type type = scalarType(tensorType(tensor).getElementType());
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value Elements::at(Value tensor, AffineExpr position) {
  SmallVector<Value> indices;
  for (AffineExpr index : space.delinearize(position, shapeOf(tensor))) {
    Value value = space.materialize(builder, loc, index);
    indices.push_back(value);
  }
  return at(tensor, indices);
}

Value Elements::at(Value tensor, ValueRange indices) {
  SmallVector<AffineExpr> exprs;
  for (auto [index, size] : llvm::zip_equal(indices, shapeOf(tensor)))
    exprs.push_back(size == 1 ? space.constant(0) : space.exprOf(index));
  Key key{tensor.getAsOpaquePointer(), {}};
  for (AffineExpr expr : exprs)
    key.second.push_back(expr.getAsOpaquePointer());
  Value &entry = computed[key];
  if (entry && entry.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent()))
    return entry;
  Value scalar = compute(tensor, indices, exprs);
  // The map may have grown: `entry` is still valid, its key is not looked up again.
  entry = scalar;
  return scalar;
}

Value Elements::compute(Value tensor, ValueRange indices, ArrayRef<AffineExpr> exprs) {
  if (failure)
    return fail(tensor, "");
  auto fixedAt = fixed.find(tensor);
  if (fixedAt != fixed.end()) {
    auto [position, scalar] = fixedAt->second;
    if (space.linearize(exprs, shapeOf(tensor)) == position)
      return scalar;
    return fail(
        tensor,
        "this reduction's result is read at another row than it is computed for: not a row kernel");
  }
  auto savedAt = saved.find(tensor);
  if (savedAt != saved.end() &&
      space.linearize(exprs, shapeOf(tensor)) == savedAt->second.position) {
    auto [position, buffer, at] = savedAt->second;
    return loadElement(builder, loc, buffer, space.materialize(builder, loc, at));
  }
  auto buffer = buffers.find(tensor);
  if (buffer != buffers.end()) {
    AffineExpr position = space.linearize(exprs, shapeOf(tensor));
    if (buffer->second.input >= 0)
      loads.push_back({buffer->second.input, position, phase});
    if (read)
      return read(buffer->second, position);
    return loadElement(builder, loc, buffer->second, space.materialize(builder, loc, position));
  }
  Operation *op = tensor.getDefiningOp();
  auto lowerable = dyn_cast_or_null<Lowerable>(op);
  if (!lowerable)
    return fail(tensor, "'" + (op ? op->getName().getStringRef() : "an argument") +
                            "' has no elements to compute one by one");
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  auto operand = [&](unsigned i, ValueRange at) { return this->at(op->getOperand(i), at); };
  return lowerable.element(builder, result, indices, operand);
}

} // namespace weir
