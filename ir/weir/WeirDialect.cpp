//===- WeirDialect.cpp - The weir dialect ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration and what tablegen generates for the dialect as a whole; the ops' generated
// definitions are a file for each family in the build tree.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/WeirDialect.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/FamilyHeaders.h.inc"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/weir/WeirDialect.cpp.inc"
#include "ir/weir/WeirEnums.cpp.inc"
#include "ir/weir/WeirInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/weir/WeirAttributes.cpp.inc"

namespace weir {

Operation *cloneWith(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange types) {
  Operation *made = builder.insert(op->clone());
  made->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(made->getResults(), types))
    result.setType(type);
  return made;
}

void WeirDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/weir/WeirAttributes.cpp.inc"
      >();
#include "ir/weir/AddOps.cpp.inc"
  attachContracting(*getContext());
}

Operation *WeirDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!typed || !tensor || typed.getType() != tensor.getElementType())
    return nullptr;
  return ConstantOp::create(builder, loc, tensor, typed);
}

FusionClass fusionClass(Operation *op) {
  auto fusible = dyn_cast<Fusible>(op);
  return fusible ? fusible.fusionClass() : FusionClass::outside;
}

std::optional<ReductionSplit> reductionSplit(Operation *op) {
  auto fusible = dyn_cast<Fusible>(op);
  return fusible ? fusible.reductionSplit() : std::nullopt;
}

Value beforeViews(Value value) {
  while (auto view = value.getDefiningOp<View>()) {
    if (view.use() != ViewUse::each)
      break;
    value = view->getOperand(0);
  }
  return value;
}

int64_t storageBytes(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return type.getNumElements() * storedBytes(type.getElementType());
}

int64_t trafficBytes(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += storageBytes(type);
  for (Type type : op->getResultTypes())
    bytes += storageBytes(type);
  return bytes;
}

} // namespace weir
