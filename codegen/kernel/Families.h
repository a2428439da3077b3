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

#ifndef WEIR_CODEGEN_KERNEL_FAMILIES_H
#define WEIR_CODEGEN_KERNEL_FAMILIES_H

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

/// The lower half of a key, or the higher.
inline int32_t keyWord(int64_t key, bool higher) {
  return int32_t(uint32_t(uint64_t(key) >> (higher ? 32 : 0)));
}

} // namespace weir

#endif
