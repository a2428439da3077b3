//===- Map.cpp - Kernels whose result elements stand alone ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elements, in row-major order, are rows of contiguous columns: one row of all elements where
// every operand can be read that way, else as many columns as keep the reads along a row contiguous
// (or all of one element).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <set>

using namespace mlir;

namespace weir {
namespace {

/// A range of elements that starts and ends at multiples of this is vectorized without remainders.
constexpr int64_t chunk = 256;

int64_t elementsOf(Value tensor) { return tensorType(tensor).getNumElements(); }

class MapEmitter {
public:
  explicit MapEmitter(Emission &emission)
      : emission(emission), elements(elementsOf(emission.yielded(0))) {}

  LogicalResult run() {
    for (Value result : emission.body().getTerminator()->getOperands())
      if (elementsOf(result) != elements)
        return emission.kernel.emitError(
            "the results of a map kernel must have one number of elements");
    std::set<int64_t, std::greater<>> candidates{elements};
    for (Operation &op : emission.body())
      for (Value value : op.getResults())
        addCandidates(value, candidates);
    for (Value argument : emission.body().getArguments())
      addCandidates(argument, candidates);

    int64_t best = 0;
    double least = 0;
    for (int64_t columns : candidates) {
      emit(columns);
      if (emission.elements->failed())
        return failure();
      double cost = costOfReads(columns);
      if (cost == 0) {
        emission.close();
        return success();
      }
      emission.discard();
      if (!best || cost < least) {
        best = columns;
        least = cost;
      }
    }
    emit(best);
    emission.close();
    return success();
  }

private:
  void addCandidates(Value value, std::set<int64_t, std::greater<>> &candidates) {
    int64_t columns = 1;
    for (int64_t size : llvm::reverse(shapeOf(value))) {
      columns *= size;
      if (columns >= 4 && columns < elements && elements % columns == 0)
        candidates.insert(columns);
    }
  }

  void emit(int64_t columns) {
    double perElement = estimatedTime(emission.kernel) / double(elements);
    int64_t rows = elements / columns;
    Emission &e = emission;
    if (rows == 1) {
      int64_t grain = std::max<int64_t>(1, int64_t(taskTime / perElement / chunk)) * chunk;
      e.open("", llvm::divideCeil(elements, grain));
      auto [begin, end] = e.range(e.lo, e.hi, grain, elements);
      emitColumns(begin, end, elements, e.space->constant(0));
      return;
    }
    int64_t grain = std::max<int64_t>(1, int64_t(taskTime / perElement / double(columns)));
    e.open("", llvm::divideCeil(rows, grain));
    auto [begin, end] = e.range(e.lo, e.hi, grain, rows);
    scf::ForOp rowLoop = e.loop(begin, end);
    AffineExpr row = e.space->declare(rowLoop.getInductionVar(), rows);
    emitColumns(e.index(0), e.index(columns), columns, row * columns);
    e.done(rowLoop);
  }

  void emitColumns(Value begin, Value end, int64_t columns, AffineExpr base) {
    Emission &e = emission;
    scf::ForOp loop = e.loop(begin, end);
    if (columns >= 4)
      loop->setAttr(lanesName, e.builder.getUnitAttr());
    column = e.space->declare(loop.getInductionVar(), columns);
    AffineExpr position = base + column;
    SmallVector<Value> scalars;
    for (Value result : e.body().getTerminator()->getOperands())
      scalars.push_back(e.elements->at(result, position));
    for (auto [i, scalar] : llvm::enumerate(scalars))
      e.storeResult(i, position, scalar);
    e.done(loop);
  }

  double costOfReads(int64_t columns) {
    double cost = 0;
    for (const Elements::Load &load : emission.elements->loads) {
      auto stride = IndexSpace::strideIn(load.position, column);
      cost += !stride ? 4 : *stride == 0 || *stride == 1 ? 0 : 1;
    }
    return columns < 16 ? cost + 1 : cost;
  }

  Emission &emission;
  int64_t elements;
  AffineExpr column;
};

} // namespace

LogicalResult emitMap(Emission &emission) { return MapEmitter(emission).run(); }

} // namespace weir
