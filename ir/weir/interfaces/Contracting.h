//===- Contracting.h - FLOPs of products, and a model's -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_CONTRACTING_H
#define WEIR_IR_WEIR_INTERFACES_CONTRACTING_H

#include "ir/weir/WeirDialect.h"

#include "ir/weir/Contracting.h.inc"

namespace weir {

/// Gives the dialect's ops their Contracting interface.
void attachContracting(mlir::MLIRContext &context);

/// The pairs of a query and a key that it sees, of all batches and heads of attention.
double attentionPairs(mlir::Value query, mlir::Value key, bool causal);

/// Model FLOPs of a line of the model.
struct LineFlops {
  mlir::Location at; ///< unknown: of ops without a line
  double flops;      ///< the sum over all ranks can exceed 64 bits
};

/// Of one run of an entry, by line, in the order in which lines come first: what its Contracting
/// ops take, in microbatches as often as there are.
llvm::SmallVector<LineFlops> modelFlopsOf(mlir::func::FuncOp entry);

/// Of a module: a dictionary from the entries' names to arrays of [location, FLOPs].
inline constexpr llvm::StringLiteral modelFlopsAttrName = "weir.model_flops";
void setModelFlops(mlir::ModuleOp module, llvm::StringRef entry, llvm::ArrayRef<LineFlops> lines);

/// Nothing where the module does not say; no lines of an entry that multiplies nothing.
std::optional<llvm::SmallVector<LineFlops>> modelFlops(mlir::ModuleOp module,
                                                       llvm::StringRef entry);

} // namespace weir

#endif
