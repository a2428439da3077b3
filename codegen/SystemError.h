//===- SystemError.h - What the machine that compiles lacks ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No exception crosses a pass: too few open files, or too little memory, is a diagnostic like any
// other, that remembers the reason.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_SYSTEMERROR_H
#define WEIR_CODEGEN_SYSTEMERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

#include <optional>

namespace weir {

/// Emits "<what>: <reason in words>"; `reason` is an errno. Always a failure.
mlir::LogicalResult emitSystemError(mlir::Location loc, int reason, llvm::StringRef what);

/// The reason of such a diagnostic.
std::optional<int> systemErrorOf(mlir::Diagnostic &diagnostic);

} // namespace weir

#endif
