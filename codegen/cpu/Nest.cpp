//===- Nest.cpp - Kernels of plain loops ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per result. Pools of windows side by side and sums along contiguous axes have loops
// of their own (Pool.cpp, `emitReduction`); of any other result every element is computed on its
// own, and what sums over loops does so inside.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/reduction/Reduction.h"

using namespace mlir;

namespace weir {

namespace {

/// The axes of a reduction of an innermost contiguous stretch, as three numbers that count through
/// them.
struct ReductionLoops {
  explicit ReductionLoops(ReduceOp op) : op(op) {
    ArrayRef<int64_t> input = shapeOf(op.getInput());
    size_t innermost = input.size();
    while (innermost > 0 && llvm::is_contained(op.getAxes(), int64_t(innermost) - 1))
      --innermost;
    for (size_t axis = 0; axis < input.size(); ++axis) {
      bool reduced = llvm::is_contained(op.getAxes(), int64_t(axis));
      (axis >= innermost ? inner : reduced ? outer : kept).push_back(input[axis]);
    }
  }

  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes)
      result *= size;
    return result;
  }

  /// The row-major position in the input.
  AffineExpr position(IndexSpace &space, AffineExpr keptAt, AffineExpr outerAt,
                      AffineExpr innerAt) {
    auto keptIndices = space.delinearize(keptAt, kept),
         outerIndices = space.delinearize(outerAt, outer);
    SmallVector<AffineExpr> indices;
    size_t nextKept = 0, nextOuter = 0;
    for (size_t axis = 0; axis < kept.size() + outer.size(); ++axis) {
      bool reduced = llvm::is_contained(op.getAxes(), int64_t(axis));
      indices.push_back(reduced ? outerIndices[nextOuter++] : keptIndices[nextKept++]);
    }
    llvm::append_range(indices, space.delinearize(innerAt, inner));
    return space.linearize(indices, shapeOf(op.getInput()));
  }

  ReduceOp op;
  SmallVector<int64_t> kept, outer, inner;
};

/// Fewer columns than this are no work for vectors.
constexpr int64_t fewestColumns = 8;

bool emitReduction(Emission &e, unsigned result, StringRef suffix, double time) {
  auto op = e.yielded(result).getDefiningOp<ReduceOp>();
  if (!op)
    return false;
  ReductionLoops loops(op);
  int64_t rows = loops.product(loops.kept), outer = loops.product(loops.outer),
          columns = loops.product(loops.inner);
  if (columns < fewestColumns || rows * outer == 0)
    return false;
  int64_t grain = std::clamp<int64_t>(int64_t(taskTime / time * double(rows)), 1, rows);
  e.open(suffix, llvm::divideCeil(rows, grain));
  auto [begin, end] = e.range(e.lo, e.hi, grain, rows);
  scf::ForOp rowLoop = e.loop(begin, end);
  AffineExpr row = e.space->declare(rowLoop.getInductionVar(), rows);
  Type type = scalarType(tensorType(op.getInput()).getElementType());
  scf::ForOp outerLoop =
      e.loop(e.index(0), e.index(outer), neutralOf(e.builder, e.loc, op.getKind(), type));
  scf::ForOp columnLoop = e.loop(e.index(0), e.index(columns), outerLoop.getRegionIterArg(0));
  columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
  AffineExpr position =
      loops.position(*e.space, row, e.space->declare(outerLoop.getInductionVar(), outer),
                     e.space->declare(columnLoop.getInductionVar(), columns));
  Value element = e.elements->at(op.getInput(), position);
  e.done(columnLoop,
         combine(e.builder, e.loc, op.getKind(), columnLoop.getRegionIterArg(0), element));
  e.done(outerLoop, columnLoop.getResult(0));
  e.storeResult(result, row, outerLoop.getResult(0));
  e.done(rowLoop);
  return true;
}

void emitElements(Emission &e, unsigned i, StringRef suffix, double time) {
  Value result = e.yielded(i);
  int64_t elements = tensorType(result).getNumElements();
  int64_t columns = shapeOf(result).empty() ? 1 : shapeOf(result).back();
  int64_t rows = elements / columns;
  // Loops that do not become vectors run at a few elements per nanosecond.
  double perRow = 4 * time / double(rows);
  int64_t grain = std::clamp<int64_t>(int64_t(taskTime / perRow), 1, rows);
  e.open(suffix, llvm::divideCeil(rows, grain));
  auto [begin, end] = e.range(e.lo, e.hi, grain, rows);
  scf::ForOp rowLoop = e.loop(begin, end);
  AffineExpr row = e.space->declare(rowLoop.getInductionVar(), rows);
  scf::ForOp columnLoop = e.loop(e.index(0), e.index(columns));
  columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
  AffineExpr position = row * columns + e.space->declare(columnLoop.getInductionVar(), columns);
  e.storeResult(i, position, e.elements->at(result, position));
  e.done(columnLoop);
  e.done(rowLoop);
}

} // namespace

LogicalResult emitNest(Emission &e) {
  unsigned results = e.kernel.getNumResults();
  double time = estimatedTime(e.kernel) / results;
  for (unsigned i = 0; i < results; ++i) {
    std::string suffix = results == 1 ? "" : "_" + std::to_string(i);
    if (emitPool(e, i, suffix, time))
      continue;
    if (!emitReduction(e, i, suffix, time))
      emitElements(e, i, suffix, time);
    bool failed = e.elements->failed();
    e.close();
    if (failed)
      return failure();
  }
  return success();
}

} // namespace weir
