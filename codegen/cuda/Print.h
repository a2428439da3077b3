//===- Print.h - Scalar code as CUDA C++ ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints functions of scf, arith, math, vector and LLVM loads and stores. A value that is used once
// stands where it is used, if the line stays short; others have names. Elementary functions and
// conversions of low precision are calls of functions that Functions.h makes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_PRINT_H
#define WEIR_CODEGEN_CUDA_PRINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>
#include <string>

namespace weir {

/// What a function is called, and its arguments.
struct FunctionText {
  struct Argument {
    std::string type, name;
    bool isPassed = true; ///< else the prologue defines it, if it is used
  };
  std::string head; ///< "__device__ float weir_exp"
  llvm::SmallVector<Argument> arguments;
  std::string prologue; ///< behind the opening brace

  /// "head(const float *in0, float *out0)".
  std::string signature() const;
};

/// The function's text. `calls` gets the names of the elementary functions it calls. Fails with an
/// error at an op that has no text.
mlir::FailureOr<std::string> printFunction(mlir::func::FuncOp function, const FunctionText &text,
                                           std::set<std::string> &calls);

/// "float", "int", "unsigned char", "weir_vec<float, 4>".
std::string cudaType(mlir::Type type);

/// "bf16", "f16", "f8e4m3" or "f8e5m2", as the names of conversions have it: weir_f32_of_bf16,
/// weir_bf16_of_f32.
std::string formatName(mlir::Type type);

/// The text of a number that an int holds.
std::string cudaConstant(int32_t value);
std::string cudaConstant(float value);

/// "weir_exp" of math.exp, "weir_bf16_of_f32" of a rounding; "" of an op that is no such function.
std::string elementaryFunction(mlir::Operation *op);

} // namespace weir

#endif
