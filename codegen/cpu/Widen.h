//===- Widen.h - Iterations of a loop side by side ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_WIDEN_H
#define WEIR_CODEGEN_CPU_WIDEN_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace weir {

/// Whether an op of scalars does the same to vectors of them.
bool isElementwise(mlir::Operation *op);

/// One copy of a loop's body with `lanes` iterations side by side, those of the mask alone where
/// there is one.
class Widener {
public:
  /// `registerLanes`: those of 32 bits that a register has.
  Widener(mlir::OpBuilder &builder, int64_t lanes, int64_t registerLanes, mlir::Value mask)
      : builder(builder), lanes(lanes), registerLanes(registerLanes), mask(mask) {}

  /// A value of the scalar loop and what stands for it: a scalar of all lanes (stride 0), the
  /// scalar of lane 0 where lane i has `stride` times i more, or a vector.
  struct Wide {
    mlir::Value scalar;
    int64_t stride = 0;
    mlir::Value vector = {};
  };

  void map(mlir::Value value, Wide wide) { wides[value] = wide; }

  /// Widens what a block computes; false where something in it has no vector form.
  bool block(mlir::Block &body);
  /// What stands for a value, as a vector of all lanes.
  mlir::Value vectorOf(mlir::Value value);

private:
  Wide lookup(mlir::Value value);
  bool operation(mlir::Operation *op);
  bool elementwise(mlir::Operation *op);
  static std::optional<int64_t> factorOf(mlir::Operation *op);
  static bool isLinear(mlir::Operation *op, llvm::ArrayRef<Wide> operands);
  static int64_t strideOf(mlir::Operation *op, llvm::ArrayRef<Wide> operands);
  /// The address of lane 0 with its stride in elements, or a vector of addresses.
  bool gep(mlir::LLVM::GEPOp op);
  mlir::Value maskOrAll(mlir::Location loc);
  /// One element for all lanes, in a branch that none of them may take: its address may be nowhere
  /// then.
  mlir::Value loadWhereTaken(mlir::Location loc, mlir::Type element, mlir::Value address);
  /// The lanes of the mask from consecutive addresses, 0 in the others.
  mlir::Value maskedLoad(mlir::Location loc, mlir::VectorType type, mlir::Value address);
  static bool isFirstLane(mlir::Value mask);
  bool memory(mlir::Operation *op, mlir::Value address);
  bool nested(mlir::scf::ForOp loop);
  /// Both branches, each with the lanes that take it, unless all lanes take the same.
  bool conditional(mlir::scf::IfOp op);

  mlir::OpBuilder &builder;
  int64_t lanes, registerLanes;
  mlir::Value mask;
  bool inBranch = false; ///< whose mask may have no lane; a loop's has its first
  llvm::DenseMap<mlir::Value, Wide> wides;
};

} // namespace weir

#endif
