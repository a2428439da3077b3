//===- PlanDialect.cpp - The plan dialect ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SetVector.h"
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

Location locationOfOps(MLIRContext *context, ArrayRef<Location> ops) {
  llvm::SmallSetVector<Location, 8> distinct;
  SmallVector<int64_t> indices;
  for (Location op : ops) {
    if (isa<UnknownLoc>(op)) { // A fused location does not keep them.
      indices.push_back(-1);
      continue;
    }
    distinct.insert(op);
    indices.push_back(std::distance(distinct.begin(), llvm::find(distinct, op)));
  }
  return FusedLoc::get(distinct.getArrayRef(), DenseI64ArrayAttr::get(context, indices), context);
}

SmallVector<Location> locationsOfOps(Location loc, size_t count) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto indices = fused ? dyn_cast_or_null<DenseI64ArrayAttr>(fused.getMetadata()) : nullptr;
  if (!indices || size_t(indices.size()) != count)
    return SmallVector<Location>(count, loc);
  ArrayRef<Location> parts = fused.getLocations();
  SmallVector<Location> ops;
  for (int64_t index : indices.asArrayRef())
    ops.push_back(index >= 0 && size_t(index) < parts.size()
                      ? parts[index]
                      : Location(UnknownLoc::get(loc.getContext())));
  return ops;
}

} // namespace weir::plan
