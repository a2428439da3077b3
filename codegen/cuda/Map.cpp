//===- Map.cpp - Kernels whose result elements stand alone ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes as many neighbours as one access moves.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"

using namespace mlir;

namespace weir::gpu {

/// Fewer threads of a block where there are few elements: all multiprocessors take part.
static int64_t threadsFor(int64_t chunks, const Architecture &architecture) {
  int64_t threads = blockThreads;
  while (threads > 64 && chunks < threads * architecture.multiprocessors)
    threads /= 2;
  return threads;
}

LogicalResult emitMap(Emission &e) {
  int64_t elements = tensorType(e.yielded(0)).getNumElements();
  for (Value result : e.body().getTerminator()->getOperands())
    if (tensorType(result).getNumElements() != elements)
      return e.kernel.emitError("the results of a map kernel must have one number of elements");
  // Neighbours lie in one row of every tensor.
  int64_t together = elements;
  auto bound = [&](Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (!shape.empty() && shape.back() > 1)
      together = std::gcd(together, shape.back());
  };
  for (Operation &op : e.body())
    llvm::for_each(op.getResults(), bound);
  int64_t lanes = e.lanesFor(together), chunks = elements / lanes;
  if (together == 1)
    lanes = e.lanesFor(elements), chunks = elements / lanes;
  int64_t threads = e.choose("threads", threadsFor(chunks, e.architecture), {64, 128, 256, 512});
  e.open("", llvm::divideCeil(chunks, threads), threads);
  Value chunk = arith::AddIOp::create(
      e.builder, e.loc, arith::MulIOp::create(e.builder, e.loc, e.block, e.index(threads)),
      e.thread);
  e.when(e.below(chunk, chunks), [&] {
    AffineExpr base = e.space->declare(chunk, chunks) * lanes;
    e.lanes(lanes, base, {}, {},
            [&](AffineExpr position, ValueRange, ValueRange) -> SmallVector<Value> {
              SmallVector<Value> scalars;
              for (Value result : e.body().getTerminator()->getOperands())
                scalars.push_back(e.elements->at(result, position));
              for (auto [i, scalar] : llvm::enumerate(scalars))
                e.storeResult(i, position, scalar);
              return {};
            });
  });
  bool failed = e.elements->failed();
  e.close();
  return failure(failed);
}

} // namespace weir::gpu
