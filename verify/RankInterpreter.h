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

/// A rank's shard of a tensor.
Tensor shareOf(const Tensor &whole, const Layout &layout, const Mesh &mesh, int64_t rank);
/// Copies it into the whole tensor.
void putShare(Tensor &whole, const Tensor &share, const Layout &layout, const Mesh &mesh,
              int64_t rank);

class RankInterpreter {
public:
  /// The program of each rank. Programs are copied, because threads must not share ops: an
  /// interpreter may number the ops of a block.
  RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs,
                  llvm::ArrayRef<uint32_t> programOf);

  /// The program of each rank.
  RankInterpreter(const Mesh &mesh, llvm::ArrayRef<mlir::ModuleOp> programs);

  /// Runs an entry on whole inputs and variables: a plan with its offsets, or with separate memory
  /// for each buffer. The results are those of rank 0, which must be equal on all ranks: an element
  /// that is not becomes 1e300, in variables as well.
  mlir::FailureOr<Tensors> run(llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs,
                               bool offsets = false);

  /// The whole persistent variables, by name.
  std::map<std::string, Tensor> variables;

  /// Why ranks did not continue, if the reason is their communication.
  struct Problem {
    std::string op;
    mlir::Location loc;
    std::string why;
  };
  std::optional<Problem> problem;
  /// The first value that differed between ranks that should have the same, as text; "" if all
  /// agreed.
  std::string apart;

  /// Called after every op of a rank, if set, on its own thread.
  std::function<void(int64_t rank, mlir::Operation *, llvm::ArrayRef<Tensor>)> observe;
  /// Called before a rank's plan runs, if set, on its own thread.
  std::function<void(int64_t rank, PlanInterpreter &)> prepare;
  /// The shards of the variables and inputs of a rank that runs an entry of weir IR.
  Tensors given(int64_t rank, llvm::StringRef entry, llvm::ArrayRef<Tensor> inputs) const;
  /// The program of a rank, as it runs here.
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
