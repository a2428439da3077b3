//===- Pins.h - Ops whose precision the model says ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pin is an attribute of the op, so it is part of what the program computes: equal ops that are
// pinned to different types are not merged, and a digest tells them apart. Where the model says so
// is none: digests leave locations out.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PINS_H
#define WEIR_IR_WEIR_PINS_H

#include "mlir/IR/Operation.h"

namespace weir {

/// Whether a program's precision is about the op: it rounds what the op multiplies, or reads as a
/// composite. Ops of no other kind are pinned.
bool takesPrecision(mlir::Operation *op);

/// The forward factors of a pinned op's precision (runtime/base/Precision.h); null where it has the
/// program's.
mlir::Type pinOf(mlir::Operation *op);

/// Where the model pins it; unknown where it does not.
mlir::Location pinnedAt(mlir::Operation *op);

void pin(mlir::Operation *op, mlir::Type precision, mlir::Location at);

/// Gives an op that takes a precision the pin of what it is made for, if that has one.
void copyPin(mlir::Operation *from, mlir::Operation *to);

void unpin(mlir::Operation *op);

} // namespace weir

#endif
