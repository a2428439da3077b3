//===- WeirDialect.h - The weir dialect -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The training step as tensors: see WeirBase.td for the dialect, WeirInterfaces.td for what passes ask of an op, and
// WeirProgram.td for how a module is laid out.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_WEIRDIALECT_H
#define WEIR_IR_WEIR_WEIRDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weir {

/// Floating-point operations, and bytes of operands and results.
struct Cost {
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// The scalar of an operand (by position) at indices; see Lowerable.
using ElementOf = llvm::function_ref<mlir::Value(unsigned operand, mlir::ValueRange indices)>;

/// The shape of a value of tensor type.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Bytes of a tensor as stored: i1 and ui8 take one byte.
int64_t storageBytes(mlir::Type tensor);

/// Bytes of an op's operands and results.
int64_t trafficBytes(mlir::Operation *op);

} // namespace weir

#include "ir/weir/WeirDialect.h.inc"
#include "ir/weir/WeirEnums.h.inc"
#include "ir/weir/WeirInterfaces.h.inc"

namespace weir {
/// Folding, Lowerable and Costed for every Pointwise op.
mlir::OpFoldResult foldPointwise(Pointwise op, llvm::ArrayRef<mlir::Attribute> operands);
mlir::Value elementwiseElement(Pointwise op, mlir::OpBuilder &builder, mlir::ValueRange indices, ElementOf operand);
Cost elementwiseCost(mlir::Operation *op);
} // namespace weir

#define GET_OP_CLASSES
#include "ir/weir/WeirOps.h.inc"

#endif
