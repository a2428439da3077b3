//===- LayoutReport.h - How tensors lie on a mesh, and who decided --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REPORTS_LAYOUTREPORT_H
#define WEIR_IR_WEIR_REPORTS_LAYOUTREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace weir {

/// Of a variable, or of values that a line of the model makes in the forward computation of a step
/// and that lie alike.
struct LayoutRecord {
  mlir::Location at;
  std::string what;   ///< the variable's name, or the ops: "matmul, add"
  bool isVariable;    ///< of values otherwise
  int64_t times;      ///< how many there are
  std::string layout; ///< of one of them, whole (support/mesh/Layout.h)
  std::string why;    ///< "tp: with h.*.mlp.c_fc.weight", of each axis that it is cut over
};

/// The module attribute weir.placements: an array of [location, what, is variable, times, layout,
/// why]. None: there is no attribute.
void setLayoutReport(mlir::ModuleOp module, llvm::ArrayRef<LayoutRecord> placements);

/// Empty where the module says nothing of it: it is for one device.
llvm::SmallVector<LayoutRecord> layoutReportOf(mlir::ModuleOp module);

} // namespace weir

#endif
