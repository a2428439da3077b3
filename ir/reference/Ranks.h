//===- Ranks.h - What all ranks of a mesh compute together ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partitioned programs (weir-partition) by their reference semantics: a thread for each rank, and
// collectives where they meet. Members that meet at different collectives are a diagnostic, never a
// deadlock.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_RANKS_H
#define WEIR_IR_REFERENCE_RANKS_H

#include "ir/reference/Interpreter.h"
#include "runtime/base/Layout.h"

namespace weir {

/// A rank's share of a tensor.
Tensor shareOf(const Tensor &whole, const Layout &layout, const Mesh &mesh, int64_t rank);
/// Puts it into the whole.
void putShare(Tensor &whole, const Tensor &share, const Layout &layout, const Mesh &mesh,
              int64_t rank);

class Ranks {
public:
  /// Of each rank its program, which outlives this.
  Ranks(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs);

  /// Runs an entry with inputs and on variables that are whole. Its results are those of rank 0,
  /// which all others have as well; failure, with a diagnostic, where they have not.
  mlir::FailureOr<Tensors> run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs);

  /// What persists, whole, by name. Ranks that have the same share of it have to agree.
  std::map<std::string, Tensor> variables;

private:
  Layout layoutOf(mlir::Operation *op, mlir::Attribute text, mlir::RankedTensorType type) const;
  mlir::LogicalResult collect(llvm::ArrayRef<std::map<std::string, Tensor>> shares);

  const Mesh &mesh;
  llvm::ArrayRef<mlir::ModuleOp> programs;
};

} // namespace weir

#endif
