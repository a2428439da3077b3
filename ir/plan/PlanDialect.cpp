//===- PlanDialect.cpp - The plan dialect ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/plan/PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanOps.cpp.inc"

namespace weir::plan {

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/plan/PlanOps.cpp.inc"
      >();
}

Place placeOf(Value buffer) {
  Place place{nullptr};
  while (auto part = buffer.getDefiningOp<PartOp>()) {
    place.offset += part.getOffset();
    place.stride += part.getStride();
    buffer = part.getBuffer();
  }
  place.memory = buffer.getDefiningOp();
  assert((isa<BufferOp, UseOp>(place.memory)) && "a buffer is memory or part of it");
  return place;
}

} // namespace weir::plan
