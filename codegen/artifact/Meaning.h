//===- Meaning.h - The text of a kernel's meaning -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to codegen/artifact. The body of a plan.kernel as MLIR text without locations: the
// block's arguments, then one weir.kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_ARTIFACT_MEANING_H
#define WEIR_CODEGEN_ARTIFACT_MEANING_H

#include "ir/plan/PlanDialect.h"

namespace weir {

std::string printMeaning(plan::KernelOp kernel);

/// Fills the kernel's empty region from `text`. Where that is not a meaning of its operands and
/// shape: a diagnostic and failure.
mlir::LogicalResult parseMeaning(llvm::StringRef text, plan::KernelOp kernel);

} // namespace weir

#endif
