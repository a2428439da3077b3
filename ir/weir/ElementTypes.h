//===- ElementTypes.h - Element types as rows of the table ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's half of support/precision/Element.h: which MLIR type a program's element is.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_ELEMENTTYPES_H
#define WEIR_IR_WEIR_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "support/precision/Element.h"
#include <optional>

namespace weir {

/// The type of a program's element.
mlir::Type typeOf(mlir::MLIRContext *context, Element element);

/// The element of that type; nothing where a program has none.
std::optional<Element> elementOf(mlir::Type element);

/// Whether it is a float of low precision.
bool isLow(mlir::Type element);

/// The type of a value's cotangents: its own, or f32 where it is of low precision.
mlir::RankedTensorType cotangentType(mlir::Value value);

/// Bytes of a scalar as stored, of a tensor's element or of scalarType() of one: a truth value and
/// a byte take one.
int64_t storedBytes(mlir::Type scalar);

/// "f32, i32, ui8 ... or f8E5M2": the types of all elements of programs.
std::string elementTypes(mlir::MLIRContext *context);

} // namespace weir

#endif
