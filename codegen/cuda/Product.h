//===- Product.h - Kernels that multiply in tiles -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of device/weir_product.h: what is multiplied is given as declarations of its sides and its
// sink; how the work is shared out is decided here.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_PRODUCT_H
#define WEIR_CODEGEN_CUDA_PRODUCT_H

#include "codegen/cuda/Emission.h"

namespace weir::gpu {

/// A tensor that a product reads or writes, in the kernel's text. Vector and direction are as the
/// type's.
struct ProductTensor {
  std::string type;   ///< "weir_matrix<..>"
  std::string buffer; ///< "in0"
  mlir::Type element;
  int64_t vector = 1;
  bool alongK = true;
  std::string text(llvm::StringRef name) const {
    return "  " + type + " " + name.str() + "{" + buffer + "};\n";
  }
};

struct TiledProduct {
  int64_t batches = 1, rows = 0, columns = 0, ks = 0;
  mlir::Type factor; ///< what is multiplied
  ProductTensor a, b, sink;
  bool ofPlaces = false; ///< of images: their addresses take registers
  std::string finish; ///< lines that declare `result`, made of `sink`; else it is the sink itself
};

/// What elements of these types are multiplied as: as they are where both are of one type that
/// tensor cores have, else as f32.
mlir::Type factorOf(mlir::Type a, mlir::Type b);

/// How many neighbours one access moves where `together` are side by side, to be multiplied as
/// `factor`.
int64_t vectorOf(int64_t together, mlir::Type stored, mlir::Type factor);

/// "a, b" as template arguments.
std::string arguments(llvm::ArrayRef<int64_t> numbers);

/// "in0" of what the kernel takes.
std::string inputName(mlir::Value argument);

/// A matrix, or a batch of them.
ProductTensor matrixSide(Emission &e, mlir::Value buffer, mlir::Type factor, int64_t lines,
                         int64_t ks, int64_t lineStride, int64_t kStride, int64_t batchStride);

/// Rows of C, one after the other.
ProductTensor matrixSink(Emission &e, std::string buffer, mlir::Type element, int64_t rows,
                         int64_t columns);

/// The launches of a product.
void writeProduct(Emission &e, const TiledProduct &product);

} // namespace weir::gpu

#endif
