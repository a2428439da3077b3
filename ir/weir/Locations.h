//===- Locations.h - Lines of the model file ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_LOCATIONS_H
#define WEIR_IR_WEIR_LOCATIONS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace weir {

/// The line of the model file behind a location: of a call of library code, the outermost caller's.
/// Null where there is none.
mlir::FileLineColLoc modelLine(mlir::Location loc);

/// "models/gpt-char.weir:12:9", or "an unknown place".
std::string describe(mlir::Location loc);

/// What the locations of gradients are named, around the op's they belong to.
inline constexpr llvm::StringLiteral gradientLocName = "the gradient";

/// The path of the block's instance that an op stands in, "h.0.attn"; "" in the model itself.
llvm::StringRef instancePath(mlir::Location loc);

/// One location for several ops or values, in order, such as those of a launch's kernel. Equal ones
/// are kept once; which has which, -1 for an unknown one, is the fused location's metadata, so that
/// it survives printing.
mlir::Location locationOfAll(mlir::MLIRContext *context, llvm::ArrayRef<mlir::Location> all);

/// The inverse, for a location that locationOfAll() made of `count`; else `loc` for each of them.
llvm::SmallVector<mlir::Location> locationsOfAll(mlir::Location loc, size_t count);

} // namespace weir

#endif
