//===- PrecisionReport.h - In which types ops compute, and why ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REPORTS_PRECISIONREPORT_H
#define WEIR_IR_WEIR_REPORTS_PRECISIONREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace weir {

/// Of the equal ops of a line of the model, in a step.
struct PrecisionRecord {
  mlir::Location at;
  std::string op; ///< "matmul"; "parameter" where one is read
  int64_t times;  ///< how many there are
  mlir::Type computes, stores;
  std::string why;
};

/// The end of `why` where a variable is what is cast.
constexpr llvm::StringLiteral castOnceAStep = ", cast once a step";

/// The module attribute weir.choices: an array of [location, op, times, computes, stores, why].
void setPrecisionReport(mlir::ModuleOp module, llvm::ArrayRef<PrecisionRecord> choices);

/// Empty where the module says nothing of it: everything is f32 then.
llvm::SmallVector<PrecisionRecord> precisionReportOf(mlir::ModuleOp module);

} // namespace weir

#endif
