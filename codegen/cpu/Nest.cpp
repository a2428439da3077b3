//===- Nest.cpp - Kernels of plain loops ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every result element on its own, one function per result. What sums over loops of its own does so inside.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"

using namespace mlir;

namespace weir {

LogicalResult emitNest(Emission &e) {
  double time = estimatedTime(e.kernel);
  unsigned results = e.kernel.getNumResults();
  for (unsigned i = 0; i < results; ++i) {
    Value result = e.yielded(i);
    int64_t elements = tensorType(result).getNumElements();
    int64_t columns = shapeOf(result).empty() ? 1 : shapeOf(result).back();
    int64_t rows = elements / columns;
    // Loops that do not become vectors run at a few elements per nanosecond.
    double perRow = 4 * time / results / double(rows);
    int64_t grain = std::clamp<int64_t>(int64_t(taskTime / perRow), 1, rows);
    e.open(results == 1 ? "" : "_" + std::to_string(i), llvm::divideCeil(rows, grain));
    auto [begin, end] = e.range(e.lo, e.hi, grain, rows);
    scf::ForOp rowLoop = e.loop(begin, end);
    AffineExpr row = e.space->declare(rowLoop.getInductionVar(), rows);
    scf::ForOp columnLoop = e.loop(e.index(0), e.index(columns));
    columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
    AffineExpr position = row * columns + e.space->declare(columnLoop.getInductionVar(), columns);
    e.storeResult(i, position, e.elements->at(result, position));
    e.done(columnLoop);
    e.done(rowLoop);
    bool failed = e.elements->failed();
    e.close();
    if (failed)
      return failure();
  }
  return success();
}

} // namespace weir
