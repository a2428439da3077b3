//===- Families.h - Kernels that share their code -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that differ in the keys of their random numbers alone are one function that takes the
// keys, and for each kernel a few instructions that call it: code for one layer, not for all.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_FAMILIES_H
#define WEIR_CODEGEN_CPU_FAMILIES_H

#include "codegen/Target.h"

namespace weir {

struct KernelFamily {
  struct Member {
    std::string symbol;
    llvm::SmallVector<int64_t> keys;
  };

  bool isShared() const { return members.size() > 1; }
  /// What its functions are called, each with a launch's suffix behind it.
  std::string symbol() const { return members.front().symbol + (isShared() ? ".any" : ""); }

  llvm::SmallVector<LaunchPlan> launches;
  llvm::SmallVector<Member> members;
};

/// Puts the keys in the place of those constants that RandomOp marks in one of the family's
/// functions: as arguments, two words for each, where it is shared.
void takeKeys(mlir::func::FuncOp function, const KernelFamily &family);

/// Adds the members' functions to a module of the LLVM dialect, each behind the one that it calls.
void addMembers(mlir::ModuleOp lowered, const KernelFamily &family);

} // namespace weir

#endif
