//===- LayoutReport.cpp - How tensors lie on a mesh, and who decided ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/reports/LayoutReport.h"
#include "ir/weir/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weir {

void setLayoutReport(ModuleOp module, ArrayRef<LayoutRecord> placements) {
  if (placements.empty())
    return;
  Builder builder(module.getContext());
  SmallVector<Attribute> all;
  for (const LayoutRecord &one : placements)
    all.push_back(builder.getArrayAttr(
        {LocationAttr(one.at), builder.getStringAttr(one.what), builder.getBoolAttr(one.isVariable),
         builder.getI64IntegerAttr(one.times), builder.getStringAttr(one.layout),
         builder.getStringAttr(one.why)}));
  module->setAttr(placementsAttrName, builder.getArrayAttr(all));
}

SmallVector<LayoutRecord> layoutReportOf(ModuleOp module) {
  SmallVector<LayoutRecord> placements;
  auto all = module->getAttrOfType<ArrayAttr>(placementsAttrName);
  for (Attribute one : all ? all.getValue() : ArrayRef<Attribute>()) {
    ArrayRef<Attribute> fields = cast<ArrayAttr>(one).getValue();
    placements.push_back({cast<LocationAttr>(fields[0]), cast<StringAttr>(fields[1]).str(),
                          cast<BoolAttr>(fields[2]).getValue(),
                          cast<IntegerAttr>(fields[3]).getInt(), cast<StringAttr>(fields[4]).str(),
                          cast<StringAttr>(fields[5]).str()});
  }
  return placements;
}

} // namespace weir
