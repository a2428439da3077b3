//===- ShardingConstraints.cpp - Cuts of parameters the model asks for ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/requests/ShardingConstraints.h"
#include "ir/weir/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weir {

void setShardingConstraints(ModuleOp module, ArrayRef<ShardingConstraint> pins) {
  Builder builder(module.getContext());
  SmallVector<Attribute> all;
  for (const ShardingConstraint &pin : pins)
    all.push_back(
        builder.getArrayAttr({builder.getStringAttr(pin.parameter), builder.getStringAttr(pin.axis),
                              builder.getI64IntegerAttr(pin.dimension), LocationAttr(pin.at)}));
  if (all.empty())
    module->removeAttr(shardsAttrName);
  else
    module->setAttr(shardsAttrName, builder.getArrayAttr(all));
}

SmallVector<ShardingConstraint> shardingConstraints(ModuleOp module) {
  SmallVector<ShardingConstraint> pins;
  auto all = module->getAttrOfType<ArrayAttr>(shardsAttrName);
  for (Attribute one : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto fields = cast<ArrayAttr>(one);
    pins.push_back({cast<StringAttr>(fields[0]).str(), cast<StringAttr>(fields[1]).str(),
                    cast<IntegerAttr>(fields[2]).getInt(),
                    Location(cast<LocationAttr>(fields[3]))});
  }
  return pins;
}

} // namespace weir
