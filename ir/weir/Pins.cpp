//===- Pins.cpp - Ops whose precision the model says ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Pins.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"

using namespace mlir;

namespace weir {

bool takesPrecision(Operation *op) {
  auto castable = dyn_cast<Castable>(op);
  return castable &&
         (castable.castRule().multiplies != Multiplies::nothing || isa<Decomposable>(op));
}

Type pinOf(Operation *op) {
  auto pin = op->getAttrOfType<TypeAttr>(pinAttrName);
  return pin ? pin.getValue() : Type();
}

Location pinnedAt(Operation *op) {
  auto at = op->getAttrOfType<LocationAttr>(pinnedAtAttrName);
  return at ? Location(at) : UnknownLoc::get(op->getContext());
}

void pin(Operation *op, Type precision, Location at) {
  op->setAttr(pinAttrName, TypeAttr::get(precision));
  op->setAttr(pinnedAtAttrName, LocationAttr(at));
}

void copyPin(Operation *from, Operation *to) {
  if (Type precision = pinOf(from); precision && takesPrecision(to))
    pin(to, precision, pinnedAt(from));
}

void unpin(Operation *op) {
  op->removeAttr(pinAttrName);
  op->removeAttr(pinnedAtAttrName);
}

} // namespace weir
