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

/// Every tensor that a program computes: to be found again whatever it is called. Row-major numbers
/// count, not shapes: views move none.
class ValueSet {
public:
  void add(const Tensor &tensor);
  bool has(const Tensor &tensor) const;

private:
  std::unordered_map<size_t, std::vector<Tensor>> bySize;
  std::vector<double> splats;
};

/// Sees the results of every op.
using See = std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)>;

/// An entry of a program, to be run and looked at: on its own, or as one rank's beside the others.
struct Watched {
  mlir::ModuleOp module;
  Tensors given; ///< what it begins with
  std::function<void(See)> run;
};
Watched watched(mlir::ModuleOp module, llvm::StringRef entry, const RandomInputs &feed);
Watched watched(RankInterpreter &ranks, int64_t rank, llvm::StringRef entry,
                const RandomInputs &feed);

/// What it is given and computes.
ValueSet valueSetOf(const Watched &program);

/// The op that gives the entry the result called `name`, a return's operand or a write, and the
/// value; null where there is none.
mlir::Operation *rootOf(mlir::ModuleOp module, const Disagreement &what, mlir::Value &value);

/// The ops that a value is computed from, those in their regions included.
llvm::DenseSet<mlir::Operation *> sliceOf(mlir::Value value);

} // namespace weir

#endif
