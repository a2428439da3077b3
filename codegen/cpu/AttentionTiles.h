//===- AttentionTiles.h - What attention kernels are written with ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector code by hand: a task is some (batch, head) pairs; keys and values are packed into the
// thread's scratch, transposed where products run along them; tiles of `tileRows` queries by
// `tileVectors` vectors of keys stay in registers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_ATTENTIONTILES_H
#define WEIR_CODEGEN_CPU_ATTENTIONTILES_H

#include "codegen/StridedView.h"
#include "codegen/cpu/Emission.h"
#include "ir/weir/interfaces/Elements.h"

#include <functional>

namespace weir {

/// A four-dimensional operand or result, [batch, head, row, column] (or [batch, head, row]), read
/// and written by strides.
struct HeadView {
  Buffer buffer;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
  mlir::Value origin; ///< of the current (batch, head), in elements
};

class AttentionTiles {
public:
  /// Sizes of the op, whose query is [batch, heads, queries, width] and key [batch, heads, keys,
  /// width].
  AttentionTiles(Emission &emission, mlir::Value query, mlir::Value key, bool causal);

  /// The operand as a view of one of the kernel's inputs; an error and no value where it is none.
  std::optional<HeadView> input(mlir::Value operand);
  /// The kernel's result that is made of this one of the op's; no value where there is none.
  std::optional<HeadView> output(mlir::Value result);
  /// An error for kernel results that no `output` found.
  mlir::LogicalResult checkOutputs();

  /// A piece of the thread's scratch, for `count` floats.
  Buffer scratch(int64_t count);

  /// Opens the function and runs `body` for each (batch, head) of its tasks, the views moved there.
  void forEachHead(double time, llvm::ArrayRef<HeadView *> views,
                   llvm::function_ref<void()> allocate, llvm::function_ref<void()> body);

  // Index arithmetic.
  mlir::Value index(int64_t value) { return e.index(value); }
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return b ? add(a, index(b)) : a; }
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, int64_t b);
  mlir::Value position(const HeadView &view, mlir::Value row, mlir::Value column);

  // Floats: scalars and vectors of `lanes`, f32 whatever the buffer holds.
  mlir::Value constant(double value);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value load(const Buffer &buffer, mlir::Value position) {
    return widened(loadElement(e.builder, e.loc, bitsOf(buffer), position), buffer.element);
  }
  void store(const Buffer &buffer, mlir::Value position, mlir::Value scalar) {
    storeElement(e.builder, e.loc, bitsOf(buffer), position, narrowed(scalar, buffer.element));
  }
  mlir::Value loadVector(const Buffer &buffer, mlir::Value position);
  void storeVector(const Buffer &buffer, mlir::Value position, mlir::Value vector);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value addf(mlir::Value a, mlir::Value b);
  mlir::Value subf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, mlir::Value b);
  mlir::Value exp(mlir::Value a);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Lane i: first + i <= last.
  mlir::Value lanesUpTo(mlir::Value first, mlir::Value last);

  using Values = llvm::SmallVector<mlir::Value>;
  using Body = std::function<Values(mlir::Value, mlir::ValueRange)>;
  Values loop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial, Body body);
  Values loop(int64_t low, int64_t high, int64_t step, mlir::ValueRange initial, Body body) {
    return loop(index(low), index(high), step, initial, body);
  }

  /// packed[row * paddedWidth + column] = view[row, column], zero in the padding.
  void packRows(const HeadView &view, int64_t rows, const Buffer &packed);
  /// The same for one row: packed[packedRow * paddedWidth + column] = view[row, column].
  void packRow(const HeadView &view, mlir::Value row, const Buffer &packed, mlir::Value packedRow);
  /// What packRows packed, as the view of one (batch, head).
  HeadView packedView(const Buffer &packed) {
    return {packed, 0, {0, 0, paddedWidth, 1}, index(0)};
  }
  /// packed[column * paddedKeys + row] = view[row, column], anything finite in the padding.
  void packTransposed(const HeadView &view, const Buffer &packed);
  /// One vector of a row's columns from `column` on, zero past the width. Columns must lie side by
  /// side.
  mlir::Value loadColumns(const HeadView &view, mlir::Value row, int64_t column);
  /// view[row, column] = packed[row * paddedWidth + column] for all `rows`.
  void unpackRows(const Buffer &packed, int64_t rows, const HeadView &view);
  /// The same for one row and one vector of columns from `column` on.
  void storeColumns(const HeadView &view, mlir::Value row, int64_t column, mlir::Value vector);

  /// The product of `tileRows` rows of a view with packed, transposed keys, at `tileVectors`
  /// vectors from key `first` on: values[row * tileVectors + vector].
  Values tileProduct(const HeadView &view, llvm::ArrayRef<mlir::Value> rows,
                     const Buffer &transposed, mlir::Value first);

  /// Calls `body` for each block of columns whose sums of `tileRows` rows stay in registers: the
  /// block's first column and its vectors.
  void forColumnBlocks(llvm::function_ref<void(int64_t column, int64_t vectors)> body);
  /// sums[r * count + v] plus factorOf(r), a scalar, times vector v of row `at` of what packRows
  /// packed, from `column` on: values[r * count + v] for `tileRows` rows and `count` vectors.
  Values addOuterProduct(mlir::ValueRange sums, llvm::function_ref<mlir::Value(int64_t)> factorOf,
                         const Buffer &packed, mlir::Value at, int64_t column, int64_t count);

  /// Rows of `view` numbered from `first` on, each at most `last`.
  Values rowsFrom(mlir::Value first, int64_t count);
  /// The last key that a query sees.
  mlir::Value lastKeyOf(mlir::Value query);
  /// The end of the tiles of keys that queries up to `query` see.
  mlir::Value endOfTiles(mlir::Value query);

  Emission &e;
  int64_t batch, heads, queries, keys, width;
  bool causal;
  int64_t lanes;
  int64_t tileRows, tileVectors, tileKeys; ///< tileKeys = tileVectors * lanes
  int64_t paddedKeys, paddedWidth;

private:
  /// Floats of low precision are loaded and stored as their bits.
  static Buffer bitsOf(Buffer buffer) {
    buffer.element = scalarType(buffer.element);
    return buffer;
  }
  mlir::Value widened(mlir::Value bits, mlir::Type element);
  mlir::Value narrowed(mlir::Value real, mlir::Type element);

  llvm::SmallVector<bool> outputsFound;
  int64_t scratchBytes = 0;
};

} // namespace weir

#endif
