//===- Statistics.h - Rows from their statistics --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of a composite behind the first are statistics, as normalize's mean and rstd are. Who
// has them and what the composite read can compute its rows again, element by element.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_STATISTICS_H
#define WEIR_IR_WEIR_INTERFACES_STATISTICS_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// The first result of `composite`, were its operands `operands`, computed from these and the
/// statistics that it gives, at the builder's place: (operand - mean) * rstd. Null, and nothing is
/// built, where that takes more than elementwise ops.
mlir::Value fromStatistics(Decomposable composite, mlir::ValueRange operands,
                           mlir::OpBuilder &builder);

/// Computes the rows that composites give element by element from the statistics that they give
/// too, where those are used: whoever needs the rows later computes them again from what was
/// normalised, and they are not kept. It is the same arithmetic.
void computeFromStatistics(mlir::Block &block);

} // namespace weir

#endif
