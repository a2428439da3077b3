//===- Requirements.cpp - The memory that an interpreted entry takes ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Requirements.h"
#include "ir/weir/Shapes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include <unistd.h>

namespace weir {

std::string tooLargeToInterpret(mlir::Operation *entry, llvm::ArrayRef<mlir::Type> held) {
  auto elements = [](mlir::Type type) {
    return llvm::cast<mlir::RankedTensorType>(type).getNumElements();
  };
  int64_t total = 0, largest = 0;
  for (mlir::Type type : held)
    total += elements(type);
  entry->walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (missingOfTensor(type).empty())
        largest = std::max(largest, elements(type));
  });
  // Twice: the interpreter copies what it is given and what it gives.
  double needed = 2.0 * sizeof(double) * static_cast<double>(total + largest);
  double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (needed <= there)
    return "";
  return llvm::formatv("needs at least {0:f0} GB, but this machine has {1:f0} GB: the interpreter "
                       "holds every element as f64",
                       needed / 1e9, there / 1e9);
}

} // namespace weir
