//===- Target.cpp - What targets do where they do not say otherwise -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target.h"
#include "ir/weir/kernel/Kernel.h"

namespace weir {

mlir::FailureOr<llvm::SmallVector<Knob>> Target::knobsOf(KernelOp kernel) {
  return llvm::SmallVector<Knob>();
}

} // namespace weir
