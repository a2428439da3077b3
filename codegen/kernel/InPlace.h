//===- InPlace.h - Results in the place of inputs --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_INPLACE_H
#define WEIR_CODEGEN_KERNEL_INPLACE_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// The reads and writes of a kernel's functions, and which results they allow in an input's place:
/// every element is read before it is written, by who writes it.
class InPlace {
public:
  /// Of inputs; `function` counts the kernel's, `phase` what comes one after the other in one.
  void load(int input, mlir::AffineExpr position, int phase, size_t function) {
    loads.push_back({unsigned(input), position, phase, function});
  }
  void store(unsigned result, mlir::AffineExpr position, int phase, size_t function) {
    stores.push_back({result, position, phase, function});
  }
  /// Forgets those of a function.
  void discard(size_t function);

  /// (result, input), by results.
  llvm::SmallVector<std::pair<unsigned, unsigned>> find(KernelOp kernel) const;

private:
  struct Access {
    unsigned number;
    mlir::AffineExpr position;
    int phase;
    size_t function;
  };
  llvm::SmallVector<Access> loads, stores;
};

} // namespace weir

#endif
