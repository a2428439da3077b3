//===- Elements.h - The elements of a kernel's tensors --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pulls scalars out of a kernel's region: an element of a tensor that lies in memory is loaded, any
// other is computed from its op's Lowerable::element. What was computed at the same indices, in a
// block that encloses the insertion point, is not computed again.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_ELEMENTS_H
#define WEIR_CODEGEN_KERNEL_ELEMENTS_H

#include "codegen/kernel/Index.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/WeirDialect.h"

#include <functional>
#include <map>

namespace weir {

/// On loads that read the same at any earlier time: of a kernel's inputs.
constexpr llvm::StringLiteral constantLoadName = "weir.constant";

/// The first element of a row-major tensor in memory.
struct Buffer {
  mlir::Value pointer;
  mlir::Type element; ///< f32, i32, i8 or i1; the last takes a byte
  int input = -1;     ///< the kernel's input that it is, if it is one
};

mlir::Value loadElement(mlir::OpBuilder &builder, mlir::Location loc, const Buffer &buffer,
                        mlir::Value position);
void storeElement(mlir::OpBuilder &builder, mlir::Location loc, const Buffer &buffer,
                  mlir::Value position, mlir::Value scalar);

class Elements {
public:
  /// `loc` is where what cannot be computed is reported.
  Elements(mlir::OpBuilder &builder, IndexSpace &space, mlir::Location loc)
      : builder(builder), space(space), loc(loc) {}

  /// The tensor lies in memory from now on.
  void place(mlir::Value tensor, Buffer buffer) { buffers[tensor] = buffer; }

  /// The element of `tensor` at `position` (row-major) is `scalar`, in the block of the insertion
  /// point.
  void fix(mlir::Value tensor, mlir::AffineExpr position, mlir::Value scalar) {
    fixed[tensor] = {position, scalar};
  }

  /// The element of `tensor` at `position` is also in `buffer`, at `at`, from now until `forget`.
  void save(mlir::Value tensor, mlir::AffineExpr position, Buffer buffer, mlir::AffineExpr at) {
    saved[tensor] = {position, buffer, at};
  }
  void forget(mlir::Value tensor) { saved.erase(tensor); }

  mlir::Value at(mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value at(mlir::Value tensor, mlir::AffineExpr position);

  bool failed() const { return failure; }

  /// Makes the read of an element in memory, where set; else it is a load of it alone.
  using Read = std::function<mlir::Value(const Buffer &buffer, mlir::AffineExpr position)>;
  Read read;

  struct Load {
    int input;
    mlir::AffineExpr position;
    int phase;
  };
  llvm::SmallVector<Load> loads; ///< of inputs, in the order they were made
  int phase = 0;                 ///< what `loads` notes

private:
  using Key = std::pair<void *, llvm::SmallVector<const void *, 4>>;

  mlir::Value compute(mlir::Value tensor, mlir::ValueRange indices,
                      llvm::ArrayRef<mlir::AffineExpr> exprs);
  mlir::Value fail(mlir::Value tensor, const llvm::Twine &why);

  mlir::OpBuilder &builder;
  IndexSpace &space;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, std::pair<mlir::AffineExpr, mlir::Value>> fixed;
  struct Saved {
    mlir::AffineExpr position;
    Buffer buffer;
    mlir::AffineExpr at;
  };
  llvm::DenseMap<mlir::Value, Saved> saved;
  std::map<Key, mlir::Value> computed;
  bool failure = false;
};

} // namespace weir

#endif
