//===- Scaler.h - Scales FP8 operands -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An FP8 type has a small range. So a tensor is multiplied by a scale that brings its largest
// element close to the largest number of the type, and the sums of its products are divided by it
// ("FP8 Formats for Deep Learning", Micikevicius et al., 2022). The scale s is a power of two: a
// product of f8(a * s) and f8(b * t), divided by s * t, is the product of f8(a * s) / s and f8(b *
// t) / t, which bf16 represents exactly.
//
// With one scale for each block, small numbers keep their digits even if other elements of the
// tensor are large ("DeepSeek-V3 Technical Report", 2024, 3.3.2). A block is 1 x 128 along the
// contracted dimension: one sum has few scales, and a large element affects only its own row. A
// block of a parameter is 128 x 128, which also serves products with the transpose.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_SCALER_H
#define WEIR_PASSES_PRECISION_SCALER_H

#include "passes/precision/Amax.h"
#include "passes/precision/Rounder.h"
#include "support/precision/Precision.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <tuple>

namespace weir {

/// The type to which an operand is rounded.
struct ScaledType {
  mlir::Type low;
  Scales scales = Scales::none;
  bool operator==(const ScaledType &) const = default;
};

/// What was inserted.
struct Scaled {
  llvm::DenseMap<mlir::Value, ScaledType> factors; ///< their views, too
  llvm::DenseSet<mlir::Operation *> work; ///< the ops that compute an operand, except the last
};

/// An operand of a product.
struct LowFactor {
  mlir::OpOperand *operand;
  ScaledType type;
};

/// Rounds tensors of bf16 to eight bits, each once for each type.
class Scaler {
public:
  /// Adds to `made` what it inserts, and to `rounded` the final casts.
  Scaler(mlir::func::FuncOp entry, Scaled &made, Rounded &rounded)
      : entry(entry), builder(entry.getContext()), made(made), rounded(rounded) {}

  /// Replaces each operand by its nearest numbers with a scale, again in bf16. Views are rebuilt on
  /// the rounded operand. In @step, delayed scales follow the history. Inside microbatches, of
  /// which a step has several, and in all other entries, the tensor itself determines its scale. So
  /// does the operand of a convolution if scales are of blocks.
  void scale(llvm::ArrayRef<LowFactor> factors, llvm::StringRef what);

private:
  /// The dimensions of a tensor that are cut into blocks: bit d for dimension d. A block has one
  /// element along each other dimension. With no bit, the tensor is one block.
  using Cuts = uint64_t;
  using Row = std::pair<mlir::Value, mlir::Type>;
  using Key = std::tuple<mlir::Value, mlir::Type, Scales, Cuts>;

  void delay(llvm::ArrayRef<LowFactor> factors);
  mlir::Value scaled(mlir::Value factor, ScaledType type, Cuts cuts, llvm::StringRef what);
  mlir::Value round(mlir::Value factor, ScaledType type, Cuts cuts, llvm::StringRef what);
  mlir::Value nearest(mlir::Value wide, mlir::Value factor, ScaledType type, Cuts cuts);
  /// Uses the scales of the largest magnitudes of `wide`, which keep `dimensions`.
  mlir::Value underOwn(mlir::Value wide, mlir::Value largest, mlir::Type low,
                       llvm::ArrayRef<int64_t> dimensions);
  /// Uses the scale of `row` of the history, and records the largest magnitude there.
  mlir::Value underDelayed(mlir::Value wide, mlir::Value largest, mlir::Type low, unsigned row);
  static Cuts cutsOf(mlir::OpOperand &factor);

  mlir::func::FuncOp entry;

  mlir::OpBuilder builder;
  Scaled &made;
  Rounded &rounded;
  llvm::DenseMap<Key, mlir::Value> known;
  std::optional<Amax> amax;
  llvm::DenseMap<Row, unsigned> rows; ///< of `amax`
};

/// The power of two that brings the largest magnitude of a tensor to at most `highest`, and above
/// half of it: from 2^-120 to 2^100, so that bf16 represents every f8 number divided by the scale
/// that is within its own range. (A magnitude within a sixteenth of the largest f32 may be rounded
/// up to infinity.) For a finite magnitude; all values are f32 of one shape.
mlir::Value scaleFor(mlir::OpBuilder &builder, mlir::Location place, mlir::Value largest,
                     mlir::Value highest);

/// The largest finite number of a float.
double highestOf(mlir::Type type);

} // namespace weir

#endif
