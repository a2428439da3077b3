//===- Nest.cpp - Kernels that loop inside an element ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per result, one thread per element: the plain route.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"

using namespace mlir;

namespace weir::gpu {

LogicalResult emitNest(Emission &e) {
  int64_t threads = e.choose("threads", 128, {64, 256});
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i) {
    Value result = e.yielded(i);
    int64_t elements = tensorType(result).getNumElements();
    e.open(e.kernel.getNumResults() == 1 ? "" : "_" + std::to_string(i),
           llvm::divideCeil(elements, threads), threads);
    Value at = arith::AddIOp::create(
        e.builder, e.loc, arith::MulIOp::create(e.builder, e.loc, e.block, e.index(threads)),
        e.thread);
    e.when(e.below(at, elements), [&] {
      AffineExpr position = e.space->declare(at, elements);
      e.storeResult(i, position, e.elements->at(result, position));
    });
    bool failed = e.elements->failed();
    e.close();
    if (failed)
      return failure();
  }
  return success();
}

} // namespace weir::gpu
