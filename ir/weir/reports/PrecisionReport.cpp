//===- PrecisionReport.cpp - In which types ops compute, and why ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/reports/PrecisionReport.h"
#include "ir/weir/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weir {

void setPrecisionReport(ModuleOp module, ArrayRef<PrecisionRecord> choices) {
  Builder builder(module.getContext());
  SmallVector<Attribute> all;
  for (const PrecisionRecord &choice : choices)
    all.push_back(builder.getArrayAttr(
        {LocationAttr(choice.at), builder.getStringAttr(choice.op),
         builder.getI64IntegerAttr(choice.times), TypeAttr::get(choice.computes),
         TypeAttr::get(choice.stores), builder.getStringAttr(choice.why)}));
  module->setAttr(choicesAttrName, builder.getArrayAttr(all));
}

SmallVector<PrecisionRecord> precisionReportOf(ModuleOp module) {
  SmallVector<PrecisionRecord> choices;
  auto all = module->getAttrOfType<ArrayAttr>(choicesAttrName);
  for (Attribute one : all ? all.getValue() : ArrayRef<Attribute>()) {
    ArrayRef<Attribute> fields = cast<ArrayAttr>(one).getValue();
    choices.push_back({cast<LocationAttr>(fields[0]), cast<StringAttr>(fields[1]).str(),
                       cast<IntegerAttr>(fields[2]).getInt(), cast<TypeAttr>(fields[3]).getValue(),
                       cast<TypeAttr>(fields[4]).getValue(), cast<StringAttr>(fields[5]).str()});
  }
  return choices;
}

} // namespace weir
