//===- Kernel.cpp - The verifier of kernels -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Regions.h"

using namespace mlir;

namespace weir {

LogicalResult KernelOp::verify() {
  // C1
  Block &block = getBody().front();
  if (failed(
          expectTypes(*this, "block arguments", block.getArgumentTypes(), getInputs().getTypes())))
    return failure();
  YieldOp yield = yieldOf(*this);
  if (!yield ||
      failed(expectTypes(*this, "yielded values", yield.getValues().getTypes(), getResultTypes())))
    return failure();
  // C2
  for (Operation &op : block)
    if (op.getDialect() != (*this)->getDialect()) {
      auto error = emitOpError("holds an op that is not weir's");
      error.attachNote(op.getLoc()) << op.getName();
      return error;
    }
  // C3
  bool isRow = getShape() == KernelShape::row, isProduct = getShape() == KernelShape::product;
  auto rows = dyn_cast_or_null<RowsAttr>(getDomainAttr());
  auto epilogue = dyn_cast_or_null<EpilogueAttr>(getDomainAttr());
  if (bool(rows) != isRow || bool(epilogue) != isProduct)
    return emitOpError("of shape ") << stringifyKernelShape(getShape()) << " wants "
                                    << (isRow       ? "#weir.rows<rows x columns>"
                                        : isProduct ? "#weir.epilogue<..>"
                                                    : "no domain")
                                    << ", and has " << (getDomainAttr() ? "another" : "none");
  // C4
  if (rows &&
      (rows.getRows() < 1 || rows.getColumns() < 1 || !fits({rows.getRows(), rows.getColumns()})))
    return emitOpError("has a domain of ")
           << rows.getRows() << " rows and " << rows.getColumns()
           << " columns: expected at least one of each, and at most " << mostElements << " places";
  if (rows)
    for (Type type : getResultTypes())
      if (int64_t elements = cast<RankedTensorType>(type).getNumElements();
          elements != 1 && elements != rows.getRows() && elements != rows.getColumns() &&
          elements != rows.getRows() * rows.getColumns())
        return emitOpError("of ") << rows.getRows() << " rows and " << rows.getColumns()
                                  << " columns cannot have a result of type " << type;
  // C5
  if (epilogue && epilogue.getBias() &&
      (*epilogue.getBias() < 0 || *epilogue.getBias() >= int64_t(getInputs().size())))
    return emitOpError("has ") << getInputs().size() << " inputs, and its bias is number "
                               << *epilogue.getBias();
  // C6
  int64_t copies = getCopies(), ops = std::distance(block.begin(), block.end()) - 1;
  if (copies < 1 || getNumOperands() % copies || getNumResults() % copies || ops % copies)
    return emitOpError("has ") << getNumOperands() << " inputs, " << ops << " ops and "
                               << getNumResults() << " results for " << copies << " copies";
  return success();
}

} // namespace weir
