//===- CheckEntry.cpp - Whether an entry can be planned -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/CheckEntry.h"
#include "ir/plan/PlanDialect.h"
#include "ir/weir/Names.h"
#include "ir/weir/Program.h"
#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

LogicalResult checkEntry(func::FuncOp function) {
  if (failed(requireBody(function)))
    return failure();
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (std::string missing = missingOfTensor(type); !missing.empty())
      return function.emitError() << "takes or returns " << type << ": expected " << missing;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttrOfType<StringAttr>(i, inputAttrName))
      return function.emitError() << "cannot be planned: its argument " << i << " has no "
                                  << inputAttrName;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto part = function.getResultAttrOfType<StringAttr>(i, partAttrName);
    auto kind = part ? plan::symbolizePortKind(part.getValue()) : std::nullopt;
    if (!function.getResultAttrOfType<StringAttr>(i, outputAttrName) || !kind ||
        *kind == plan::PortKind::input)
      return function.emitError() << "cannot be planned: its result " << i << " has no "
                                  << outputAttrName << ", or no " << partAttrName
                                  << " of an output";
  }
  return success();
}

} // namespace weir
