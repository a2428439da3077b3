//===- PrecisionOverrides.h - The precision of ops ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's precision is a field of its strategy (ir/weir/Strategy.h). An op's is an attribute,
// the name of a Precision (support/precision/Precision.h). A pin is the model's own word on an op,
// so it is part of what the program computes: equal ops that are pinned to different precisions are
// not merged, and a digest tells them apart. Where the model says so is none: digests leave
// locations out.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REQUESTS_PRECISIONOVERRIDES_H
#define WEIR_IR_WEIR_REQUESTS_PRECISIONOVERRIDES_H

#include "mlir/IR/BuiltinOps.h"
#include "support/precision/Precision.h"
#include <optional>

namespace weir {

/// Whether a program's precision is about the op: it rounds what the op multiplies, or reads as a
/// composite. Ops of no other kind are pinned.
bool takesPrecision(mlir::Operation *op);

/// A pinned op's precision; nothing where it has the program's.
std::optional<Precision> precisionOverrideOf(mlir::Operation *op);

/// Where the model pins it; unknown where it does not.
mlir::Location overriddenAt(mlir::Operation *op);

void overridePrecision(mlir::Operation *op, Precision precision, mlir::Location at);

/// Gives an op that takes a precision the pin of what it is made for, if that has one.
void copyPrecisionOverride(mlir::Operation *from, mlir::Operation *to);

void clearPrecisionOverride(mlir::Operation *op);

/// What a device may round the factors of an op's products to on their way, those that it computes
/// itself among them: tf32 where they are f32, or the type that the op's operands are of. Nothing:
/// they are multiplied as they are.
std::optional<Precision> factorsOf(mlir::Operation *op);
void setFactors(mlir::Operation *op, std::optional<Precision> factors);

/// The largest relative error of a factor that is rounded so; 0 for none.
double roundingOfFactors(mlir::Operation *op);
/// The largest of all ops.
double roundingOfFactors(mlir::ModuleOp program);

} // namespace weir

#endif
