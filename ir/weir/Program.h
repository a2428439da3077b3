//===- Program.h - What every training program has --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's verifiers look at ops; a module may pass them and have lost its loss. This looks at
// the module as a whole, whoever made it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_H
#define WEIR_IR_WEIR_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace weir {

/// An error at a function that is not one block with a func.return: what passes on whole entries
/// expect.
mlir::LogicalResult requireBody(mlir::func::FuncOp entry);

/// What an entry that computes a loss lacks ("`step` has no loss"), or "": a loss has at least one
/// term, and each term its sum and its count, once.
std::string missingLoss(mlir::func::FuncOp entry);

/// What a module that the frontend made lacks, or "": the entries `init`, `step` and `eval`,
/// the last two and `eval_one`, where there is one, with a loss; results in every other entry but
/// `init`; an initial value of every variable but those of the run; an update of at least one
/// parameter.
std::string missingPart(mlir::ModuleOp program);

/// The names of the variables that lie with the host.
llvm::StringSet<> variablesOnHost(mlir::ModuleOp program);

} // namespace weir

#endif
