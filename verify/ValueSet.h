//===- ValueSet.h - Values of a program, for looking them up --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_VALUESET_H
#define WEIR_VERIFY_VALUESET_H

#include "verify/Outcome.h"
#include "verify/RandomInputs.h"
#include "verify/RankInterpreter.h"
#include <unordered_map>

namespace weir {

/// Every tensor that a program computes, searchable by value, not by name. Compares the row-major
/// numbers, not shapes: views move none.
class ValueSet {
public:
  void add(const Tensor &tensor);
  bool has(const Tensor &tensor) const;

private:
  std::unordered_map<size_t, std::vector<Tensor>> bySize;
  std::vector<double> splats;
};

/// Records the results of every op.
using See = std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)>;

/// An entry of a program to run and examine: alone, or as that of one rank.
struct Watched {
  mlir::ModuleOp module;
  Tensors given; ///< its initial variables and inputs
  std::function<void(See)> run;
};
Watched watched(mlir::ModuleOp module, llvm::StringRef entry, const RandomInputs &feed);
Watched watched(RankInterpreter &ranks, int64_t rank, llvm::StringRef entry,
                const RandomInputs &feed);

/// The values that it is given, and those that it computes.
ValueSet valueSetOf(const Watched &program);

/// The op that produces the entry's result `name`, a return or a write, and the value; null if
/// there is none.
mlir::Operation *rootOf(mlir::ModuleOp module, const Disagreement &what, mlir::Value &value);

/// The ops from which a value is computed, with those in their regions.
llvm::DenseSet<mlir::Operation *> sliceOf(mlir::Value value);

} // namespace weir

#endif
