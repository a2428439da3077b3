//===- ShardPins.cpp - Cuts of parameters that the model asks for ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ShardPins.h"
#include "ir/weir/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weir {

void setShardPins(ModuleOp module, ArrayRef<ShardPin> pins) {
  Builder builder(module.getContext());
  SmallVector<Attribute> all;
  for (const ShardPin &pin : pins)
    all.push_back(
        builder.getArrayAttr({builder.getStringAttr(pin.parameter), builder.getStringAttr(pin.axis),
                              builder.getI64IntegerAttr(pin.dimension), LocationAttr(pin.at)}));
  if (all.empty())
    module->removeAttr(shardsAttrName);
  else
    module->setAttr(shardsAttrName, builder.getArrayAttr(all));
}

FailureOr<SmallVector<ShardPin>> shardPins(ModuleOp module) {
  SmallVector<ShardPin> pins;
  Attribute attribute = module->getAttr(shardsAttrName);
  if (!attribute)
    return pins;
  auto all = dyn_cast<ArrayAttr>(attribute);
  for (Attribute one : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto fields = dyn_cast<ArrayAttr>(one);
    bool isPin = fields && fields.size() == 4 && isa<StringAttr>(fields[0]) &&
                 isa<StringAttr>(fields[1]) && isa<IntegerAttr>(fields[2]) &&
                 isa<LocationAttr>(fields[3]);
    if (!isPin) {
      all = nullptr;
      break;
    }
    pins.push_back({cast<StringAttr>(fields[0]).str(), cast<StringAttr>(fields[1]).str(),
                    cast<IntegerAttr>(fields[2]).getInt(),
                    Location(cast<LocationAttr>(fields[3]))});
  }
  if (!all)
    return module.emitError() << shardsAttrName << " = " << attribute
                              << ": expected [parameter, axis, dimension, location] of each";
  return pins;
}

} // namespace weir
