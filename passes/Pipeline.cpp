//===- Pipeline.cpp - The compile, phase by phase -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of contents of the compiler. Between phases stand passes that only check.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace weir {

static void differentiate(OpPassManager &pm) {
  // Equal subexpressions first: what is merged is differentiated once.
  pm.addNestedPass<func::FuncOp>(createSimplify());
  pm.addNestedPass<func::FuncOp>(createAutodiff());
  pm.addNestedPass<func::FuncOp>(createVerifyDifferentiated());
}

static void simplify(OpPassManager &pm) {
  // Before simplification, so that a sum's zero and its additions are simplified too.
  pm.addNestedPass<func::FuncOp>(createCarrySums());
  pm.addNestedPass<func::FuncOp>(createSimplify());
}

static void fuse(OpPassManager &pm) {
  pm.addPass(createFuse());
  // What fusion computes again in a kernel may be there twice.
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyFused());
}

ArrayRef<Phase> phases() {
  static const Phase all[] = {
      {"differentiate", "gradients become ops", differentiate},
      {"simplify", "folding, common subexpressions, dead code", simplify},
      {"fuse", "everything that computes is in a kernel", fuse},
  };
  return all;
}

} // namespace weir
