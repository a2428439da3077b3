//===- Scaler.h - Factors in eight bits -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A float of eight bits has few powers of two, so a tensor is multiplied by a scale that brings its
// largest element near to the largest number of the type, and what is summed up of it divided
// ("FP8 Formats for Deep Learning", Micikevicius et al., 2022). The scale s is a power of two: a
// product of factors f8(a * s) and f8(b * t), divided by s * t, is that of f8(a * s) / s and
// f8(b * t) / t, which bf16 holds exactly.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_SCALER_H
#define WEIR_PASSES_PRECISION_SCALER_H

#include "passes/precision/Amax.h"
#include "passes/precision/Rounder.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace weir {

/// What was made.
struct Scaled {
  llvm::DenseMap<mlir::Value, mlir::Type> factors; ///< what each is rounded to; views of them too
  llvm::DenseSet<mlir::Operation *> work;          ///< the ops behind a factor but for the last
};

/// A factor of a product, and what it is to be rounded to.
struct LowFactor {
  mlir::OpOperand *operand;
  mlir::Type low;
};

/// Rounds tensors of bf16 to eight bits, each once for each type.
class Scaler {
public:
  /// Adds to `made` what it made, and to `rounded` the casts that end it.
  Scaler(mlir::func::FuncOp entry, Scaled &made, Rounded &rounded)
      : entry(entry), builder(entry.getContext()), made(made), rounded(rounded) {}

  /// Gives each factor the numbers that are nearest to it under a scale, again in bf16. What moves
  /// it is done with what it was rounded to. @step scales by what the last steps have seen, but for
  /// what is in microbatches, of which there are several a step; that, and every other entry, by
  /// what a tensor is itself.
  void scale(llvm::ArrayRef<LowFactor> factors, llvm::StringRef what);

private:
  using Key = std::pair<mlir::Value, mlir::Type>;

  mlir::Value scaled(mlir::Value factor, mlir::Type low, llvm::StringRef what);
  mlir::Value round(mlir::Value factor, mlir::Type low, llvm::StringRef what);

  mlir::func::FuncOp entry;

  mlir::OpBuilder builder;
  Scaled &made;
  Rounded &rounded;
  llvm::DenseMap<Key, mlir::Value> known;
  std::optional<Amax> amax;
  llvm::DenseMap<Key, unsigned> rows; ///< of `amax`
};

/// The power of two that brings the largest magnitude of a tensor to at most `highest`, and above
/// half of it: from 2^-100 to 2^100, so that bf16 holds every number of eight bits over it.
/// `otherwise` where all is zero, or something is not finite. All are f32 of one shape.
mlir::Value scaleFor(mlir::OpBuilder &builder, mlir::Location place, mlir::Value largest,
                     mlir::Value highest, mlir::Value otherwise);

/// The largest finite number of a float.
double highestOf(mlir::Type type);

} // namespace weir

#endif
