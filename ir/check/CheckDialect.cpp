//===- CheckDialect.cpp - The check dialect -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/check/CheckDialect.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Variable.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "ir/check/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "ir/check/CheckOps.cpp.inc"

namespace weir::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/check/CheckOps.cpp.inc"
      >();
}

LogicalResult CheckDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != unsupportedName)
    return op->emitError() << attribute.getName() << " is no attribute of the check dialect";
  auto reasons = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!isa<func::FuncOp>(op) || !reasons || !llvm::all_of(reasons, [](NamedAttribute reason) {
        auto text = dyn_cast<StringAttr>(reason.getValue());
        return text && !text.empty();
      }))
    return op->emitError() << unsupportedName
                           << " belongs to a function: a dictionary from back ends to reasons";
  return success();
}

static LogicalResult verifyDense(Operation *op, Attribute value) {
  if (!isa<DenseElementsAttr>(value))
    return op->emitOpError("needs its value as dense<...>");
  return success();
}

static LogicalResult verifyTolerance(Operation *op, Type type, FloatAttr within, bool each,
                                     bool exactly = false) {
  if (within && !(within.getValueAsDouble() > 0))
    return op->emitOpError("needs a positive tolerance");
  if (within && !isa<FloatType>(cast<ShapedType>(type).getElementType()))
    return op->emitOpError("has a tolerance, but whole numbers and truth values are exact");
  if (within && exactly)
    return op->emitOpError("is either exact or within a tolerance");
  if (each && !within)
    return op->emitOpError("says 'each' of no tolerance");
  return success();
}

static LogicalResult verifyVariable(Operation *op, SymbolTableCollection &symbols,
                                    FlatSymbolRefAttr name, Type type) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError() << "names no variable: " << name;
  if (variable.getType() != type)
    return op->emitOpError() << "has a value of type " << type << ", but the variable is "
                             << variable.getType();
  return success();
}

LogicalResult InputOp::verify() { return verifyDense(*this, getValue()); }

LogicalResult SetOp::verify() { return verifyDense(*this, getValue()); }

LogicalResult SetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(), getValue().getType());
}

LogicalResult ExpectOp::verify() {
  if (failed(verifyDense(*this, getExpected())))
    return failure();
  return verifyTolerance(*this, getActual().getType(), getWithinAttr(), getEach(), getExactly());
}

LogicalResult ExpectCloseOp::verify() {
  return verifyTolerance(*this, getActual().getType(), getWithinAttr(), getEach());
}

LogicalResult ExpectVariableOp::verify() {
  if (failed(verifyDense(*this, getExpected())))
    return failure();
  return verifyTolerance(*this, getExpected().getType(), getWithinAttr(), getEach(), getExactly());
}

LogicalResult ExpectVariableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(), getExpected().getType());
}

} // namespace weir::check
