//===- RankInterpreter.h - Interprets the programs of all ranks together --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs programs after weir-partition, or their plans, by their reference semantics, with one thread
// per rank. The ranks communicate as the threads of virtual devices do. The caller sees whole
// tensors.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_RANKINTERPRETER_H
#define WEIR_VERIFY_RANKINTERPRETER_H

#include "ir/reference/PlanInterpreter.h"
#include "mlir/IR/OwningOpRef.h"
#include "support/mesh/Layout.h"

namespace weir {

/// A rank's share of a tensor.
Tensor shareOf(const Tensor &whole, const Layout &layout, const Mesh &mesh, int64_t rank);
/// Puts it into the whole.
void putShare(Tensor &whole, const Tensor &share, const Layout &layout, const Mesh &mesh,
              int64_t rank);

class RankInterpreter {
public:
  /// Of each rank which of the programs it runs; they are copied, for threads do not share an op:
  /// an interpreter asks for the order in a block, which is numbered then.
  RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs,
                  llvm::ArrayRef<uint32_t> programOf);

  /// Of each rank its program.
  RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs);

  /// Runs an entry with inputs and on variables that are whole; plans with their offsets, or with
  /// memory of its own for each buffer. Its results are those of rank 0, which all others have as
  /// well: where they have not, an element is 1e300, and so it is with variables.
  mlir::FailureOr<Tensors> run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs,
                               bool offsets = false);

  /// What persists, whole, by name.
  std::map<std::string, Tensor> variables;

  /// Why ranks did not go on, where that is because of what they say to each other.
  struct Problem {
    std::string op;
    mlir::Location loc;
    std::string why;
  };
  std::optional<Problem> problem;
  /// What was first not the same on ranks that should have the same, in words; "" where all was.
  std::string apart;

  /// Called after every op of a rank, where set, by its own thread.
  std::function<void(int64_t rank, mlir::Operation *, llvm::ArrayRef<Tensor>)> observe;
  /// Called ahead of running a rank's plan, where set, by its own thread.
  std::function<void(int64_t rank, PlanInterpreter &)> prepare;
  /// What a rank has of the variables and inputs when it runs an entry of weir IR.
  Tensors given(int64_t rank, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs) const;
  /// The program of a rank, as it is run here.
  mlir::ModuleOp program(int64_t rank) const { return *modules[size_t(rank)]; }

private:
  using Variables = std::map<std::string, Tensor>;

  Layout layoutOf(ShardingAttr sharding, mlir::Type type) const;
  Variables sharesOf(int64_t rank) const;
  Tensors argumentsOf(int64_t rank, mlir::func::FuncOp entry, llvm::ArrayRef<Tensor> inputs) const;
  mlir::FailureOr<Tensors> runWeir(Interpreter &interpreter, int64_t rank, llvm::StringRef entry,
                                   llvm::ArrayRef<Tensor> inputs, Variables &own);
  mlir::FailureOr<Tensors> runPlan(Interpreter &interpreter, int64_t rank, llvm::StringRef entry,
                                   llvm::ArrayRef<Tensor> inputs, Variables &own, bool offsets);
  void collect(llvm::ArrayRef<Variables> shares);

  const Mesh mesh;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules; ///< of each rank
};

} // namespace weir

#endif
