//===- PrecisionOverrides.cpp - The precision of ops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/requests/PrecisionOverrides.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"

using namespace mlir;

namespace weir {

static std::optional<Precision> named(Operation *op, StringRef attribute) {
  auto name = op->getAttrOfType<StringAttr>(attribute);
  return name ? precisionNamed(name.getValue()) : std::nullopt;
}

bool takesPrecision(Operation *op) {
  auto castable = dyn_cast<Castable>(op);
  return castable &&
         (castable.castRule().multiplies != Multiplies::nothing || isa<Decomposable>(op));
}

std::optional<Precision> precisionOverrideOf(Operation *op) { return named(op, pinAttrName); }

Location overriddenAt(Operation *op) {
  auto at = op->getAttrOfType<LocationAttr>(pinnedAtAttrName);
  return at ? Location(at) : UnknownLoc::get(op->getContext());
}

void overridePrecision(Operation *op, Precision precision, Location at) {
  op->setAttr(pinAttrName, StringAttr::get(op->getContext(), nameOf(precision)));
  op->setAttr(pinnedAtAttrName, LocationAttr(at));
}

void copyPrecisionOverride(Operation *from, Operation *to) {
  if (std::optional<Precision> precision = precisionOverrideOf(from);
      precision && takesPrecision(to))
    overridePrecision(to, *precision, overriddenAt(from));
}

void clearPrecisionOverride(Operation *op) {
  op->removeAttr(pinAttrName);
  op->removeAttr(pinnedAtAttrName);
}

std::optional<Precision> factorsOf(Operation *op) { return named(op, factorsAttrName); }

void setFactors(Operation *op, std::optional<Precision> factors) {
  if (factors)
    op->setAttr(factorsAttrName, StringAttr::get(op->getContext(), nameOf(*factors)));
  else
    op->removeAttr(factorsAttrName);
}

double roundingOfFactors(Operation *op) {
  std::optional<Precision> factors = factorsOf(op);
  if (!factors)
    return 0;
  // A tensor core leaves the last bits of what it reads as TF32 out.
  return *factors == Precision::tf32 ? 0x1p-10 : lastPlace(rowOf(*factors).stored) / 2;
}

double roundingOfFactors(ModuleOp program) {
  double largest = 0;
  program.walk([&](Operation *op) { largest = std::max(largest, roundingOfFactors(op)); });
  return largest;
}

} // namespace weir
