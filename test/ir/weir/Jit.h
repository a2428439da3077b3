//===- Jit.h - Running scalar forms compiled as plain loops -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Test support: a function of weir ops, each op as one loop nest over its results' elements (the
// Lowerable interface alone), compiled and run in this process.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_IR_WEIR_JIT_H
#define WEIR_TEST_IR_WEIR_JIT_H

#include "ir/reference/Tensor.h"
#include "ir/weir/WeirDialect.h"

namespace weir {

void registerJitDialects(mlir::DialectRegistry &registry);

/// The results of `function` for inputs, which are rounded to their types.
mlir::FailureOr<Tensors> runCompiled(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs);

} // namespace weir

#endif
