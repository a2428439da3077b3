//===- SavedActivationsReport.cpp - What a step keeps, and its price ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/reports/SavedActivationsReport.h"
#include "ir/weir/Names.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weir {

static constexpr StringRef fates[] = {"kept", "again", "away"};

StringRef nameOf(Fate fate) { return fates[size_t(fate)]; }

void setSavedActivationsReport(ModuleOp module, const SavedActivationsReport &keeping) {
  Builder builder(module.getContext());
  SmallVector<Attribute> tensors;
  for (const SavedTensor &one : keeping.tensors)
    tensors.push_back(builder.getArrayAttr(
        {LocationAttr(one.at), builder.getStringAttr(one.what),
         builder.getI64IntegerAttr(one.bytes), builder.getI64IntegerAttr(one.times),
         builder.getF64FloatAttr(one.seconds), builder.getStringAttr(nameOf(one.fate)),
         builder.getStringAttr(one.why)}));
  module->setAttr(keepingAttrName, builder.getArrayAttr({builder.getF64FloatAttr(keeping.seconds),
                                                         builder.getI64IntegerAttr(keeping.scratch),
                                                         builder.getI64IntegerAttr(keeping.least),
                                                         builder.getArrayAttr(tensors)}));
}

std::optional<SavedActivationsReport> savedActivationsReportOf(ModuleOp module) {
  auto all = module->getAttrOfType<ArrayAttr>(keepingAttrName);
  if (!all)
    return std::nullopt;
  SavedActivationsReport keeping;
  keeping.seconds = cast<FloatAttr>(all[0]).getValueAsDouble();
  keeping.scratch = cast<IntegerAttr>(all[1]).getInt();
  keeping.least = cast<IntegerAttr>(all[2]).getInt();
  for (Attribute one : cast<ArrayAttr>(all[3])) {
    ArrayRef<Attribute> fields = cast<ArrayAttr>(one).getValue();
    keeping.tensors.push_back(
        {cast<LocationAttr>(fields[0]), cast<StringAttr>(fields[1]).str(),
         cast<IntegerAttr>(fields[2]).getInt(), cast<IntegerAttr>(fields[3]).getInt(),
         cast<FloatAttr>(fields[4]).getValueAsDouble(),
         Fate(llvm::find(fates, cast<StringAttr>(fields[5]).getValue()) - fates),
         cast<StringAttr>(fields[6]).str()});
  }
  return keeping;
}

} // namespace weir
