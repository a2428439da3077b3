//===- CheckRows.cpp - Single rows against their batch --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verify/Checks.h"
#include "verify/Compare.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace weir {

LogicalResult checkRows(Verification &verification, const Samples &samples) {
  const Sample &middle = samples.middle();
  auto eval = middle.truth.find("eval");
  auto one = samples.twin().lookupSymbol<func::FuncOp>("eval_one");
  if (!one || eval == middle.truth.end() || one.getNumArguments() == 0)
    return success();
  const Tensors &inputs = middle.feed.inputs.at("eval");
  int64_t rows = inputs[0].shape[0] / shapeOf(one.getArgument(0))[0];
  std::vector<double> sums(one.getNumResults()), sizes(one.getNumResults());
  for (int64_t row = 0; row < rows; ++row) {
    Tensors part;
    for (const Tensor &input : inputs)
      part.push_back(input.part(row, rows));
    Interpreter interpreter;
    interpreter.variables = middle.feed.variables;
    FailureOr<Tensors> figures = interpreter.run(one, part);
    if (failed(figures))
      return failure();
    for (auto [i, figure] : llvm::enumerate(*figures)) {
      sums[i] += figure.values[0];
      sizes[i] += std::abs(figure.values[0]);
    }
  }
  verification.worked(verification.cost.rows);
  // A figure that cancels, as the sum of normalized values does, is the rounding of its addends.
  // The largest figure stands for them.
  double largest = 1;
  for (const Result &figure : eval->second)
    largest = std::max(largest, std::abs(figure.value.values[0]));
  const double rounding = 0x1p-46 * double(rows) * largest;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    const Result &whole = eval->second[i];
    double should = whole.value.values[0];
    if (std::abs(sum - should) <= passTolerance * std::max(sizes[i], std::abs(should)) + rounding)
      continue;
    verification.report(
        "elaborate", "`" + whole.name + "` of @eval_one", std::nullopt,
        llvm::formatv("over the {0} rows of a batch it should be {1:e9} but is {2:e9}", rows,
                      should, sum)
            .str());
    return success();
  }
  return success();
}

} // namespace weir
