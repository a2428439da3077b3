//===- Locations.cpp - Lines of the model file ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weir {

mlir::FileLineColLoc modelLine(mlir::Location loc) {
  if (auto line = llvm::dyn_cast<mlir::FileLineColLoc>(loc))
    return line;
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(loc)) {
    if (auto line = modelLine(call.getCaller()))
      return line;
    return modelLine(call.getCallee());
  }
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(loc))
    return modelLine(name.getChildLoc());
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc))
    for (mlir::Location part : fused.getLocations())
      if (auto line = modelLine(part))
        return line;
  return {};
}

llvm::StringRef instancePath(mlir::Location loc) {
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc))
    return fused.getLocations().empty() ? "" : instancePath(fused.getLocations().front());
  auto name = llvm::dyn_cast<mlir::NameLoc>(loc);
  if (!name)
    return "";
  // What autodiff builds has another name around it.
  llvm::StringRef inner = instancePath(name.getChildLoc());
  bool isPath = name.getName() != gradientLocName;
  return inner.empty() && isPath ? name.getName().getValue() : inner;
}

std::string describe(mlir::Location loc) {
  mlir::FileLineColLoc line = modelLine(loc);
  if (!line)
    return "an unknown place";
  return line.getFilename().str() + ":" + std::to_string(line.getLine()) + ":" +
         std::to_string(line.getColumn());
}

Location locationOfAll(MLIRContext *context, ArrayRef<Location> all) {
  llvm::SmallSetVector<Location, 8> distinct;
  SmallVector<int64_t> indices;
  for (Location one : all) {
    if (isa<UnknownLoc>(one)) { // A fused location does not keep them.
      indices.push_back(-1);
      continue;
    }
    distinct.insert(one);
    indices.push_back(std::distance(distinct.begin(), llvm::find(distinct, one)));
  }
  return FusedLoc::get(distinct.getArrayRef(), DenseI64ArrayAttr::get(context, indices), context);
}

SmallVector<Location> locationsOfAll(Location loc, size_t count) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto indices = fused ? dyn_cast_or_null<DenseI64ArrayAttr>(fused.getMetadata()) : nullptr;
  if (!indices || size_t(indices.size()) != count)
    return SmallVector<Location>(count, loc);
  ArrayRef<Location> parts = fused.getLocations();
  SmallVector<Location> all;
  for (int64_t index : indices.asArrayRef())
    all.push_back(index >= 0 && size_t(index) < parts.size()
                      ? parts[index]
                      : Location(UnknownLoc::get(loc.getContext())));
  return all;
}

} // namespace weir
