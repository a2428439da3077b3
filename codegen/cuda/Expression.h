//===- Expression.h - Ops without effects as CUDA C++ ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of one op, from the texts of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_EXPRESSION_H
#define WEIR_CODEGEN_CUDA_EXPRESSION_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

#include <set>
#include <string>

namespace weir {

/// The text of an operand.
using OperandText = llvm::function_ref<std::string(mlir::Value)>;

/// Whether the text is a name or a number, indexed perhaps.
bool isAtom(llvm::StringRef text);

/// `text`, in parentheses if it has operators.
std::string grouped(std::string text);

/// "name(a, b)" for the op's operands.
std::string callText(const std::string &name, mlir::Operation &op, OperandText textOf);

/// The text of a position that is a constant or a value.
std::string positionText(mlir::OpFoldResult position, OperandText textOf);

/// The text of an op with one result and no effects; "" for any other. `calls` gets the name of the
/// elementary function (Print.h) that it calls.
std::string expressionText(mlir::Operation &op, OperandText textOf, std::set<std::string> &calls);

} // namespace weir

#endif
