//===- ProductSpec.cpp - A product as a library call ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/ProductSpec.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/structure/Structure.h"

#include "ir/weir/ElementTypes.h"
#include "ir/weir/requests/PrecisionOverrides.h"

using namespace mlir;

namespace weir {

Location locationsOf(KernelOp kernel) {
  SmallVector<Location> lines;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<MatmulOp>(op))
      lines.insert(lines.begin(), op.getLoc());
    else
      lines.push_back(op.getLoc());
  return FusedLoc::get(kernel.getContext(), lines);
}

/// Of the factors of a kernel's sums: repeated numbers, of vectors in memory.
static FailureOr<SmallVector<std::pair<Value, int64_t>>> scalesOf(KernelOp kernel,
                                                                  const CallBuffers &operands) {
  SmallVector<std::pair<Value, int64_t>> scales;
  for (auto mul : kernel.getBody().getOps<MulOp>())
    for (Value operand : mul->getOperands())
      if (auto spread = operand.getDefiningOp<BroadcastOp>()) {
        Value number = spread.getInput();
        int64_t element = 0;
        if (auto slice = number.getDefiningOp<SliceOp>()) {
          element = slice.getOffsets()[0];
          number = slice.getInput();
        }
        auto argument = dyn_cast<BlockArgument>(number);
        if (!argument)
          return kernel.emitError("a product's scales must be in memory");
        scales.push_back({operands.inputs[argument.getArgNumber()], element});
      }
  return scales;
}

static Element elementAt(Value value) { return *elementOf(tensorType(value).getElementType()); }

FailureOr<ProductCall> productCall(KernelOp kernel, const CallBuffers &operands) {
  auto matmul = *kernel.getBody().getOps<MatmulOp>().begin();
  auto buffer = [&](Value value) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? operands.inputs[argument.getArgNumber()] : Value();
  };
  Value a = buffer(matmul.getLhs()), b = buffer(matmul.getRhs());
  if (!a || !b)
    return kernel.emitError("a product's operands must be in memory");
  EpilogueAttr epilogue = kernel.epilogue();
  ArrayRef<int64_t> c = shapeOf(matmul.getResult());
  spec::Product spec;
  spec.m = c[c.size() - 2];
  spec.n = c.back();
  ArrayRef<int64_t> lhs = shapeOf(matmul.getLhs());
  spec.k = lhs[lhs.size() - (matmul.getTransposeLhs() ? 2 : 1)];
  for (int64_t d : c.drop_back(2))
    spec.batch *= d;
  spec.aBatch = spec.m * spec.k;
  spec.bBatch = spec.k * spec.n;
  spec.cBatch = spec.m * spec.n;
  spec.aRow = matmul.getTransposeLhs() ? 1 : spec.k;
  spec.aColumn = matmul.getTransposeLhs() ? spec.m : 1;
  spec.bRow = matmul.getTransposeRhs() ? 1 : spec.n;
  spec.bColumn = matmul.getTransposeRhs() ? spec.k : 1;
  spec.cRow = spec.n;
  spec.relu = epilogue.getRelu();
  spec.factors = elementAt(matmul.getLhs());
  if (Element right = elementAt(matmul.getRhs()); right != spec.factors)
    spec.right = right == Element::f8e5m2 ? spec::RightElement::f8e5m2 : spec::RightElement::f8e4m3;
  if (factorsOf(matmul) == Precision::tf32)
    spec.rounding = spec::FactorRounding::tf32;
  spec.result = elementAt(kernel.getResult(0));
  SmallVector<Value> buffers = {a, b, operands.result};
  if (epilogue.getBias()) {
    spec.bias = true;
    spec.added = elementAt(kernel.getInputs()[*epilogue.getBias()]);
    buffers.push_back(operands.inputs[*epilogue.getBias()]);
  }
  FailureOr<SmallVector<std::pair<Value, int64_t>>> scales = scalesOf(kernel, operands);
  if (failed(scales))
    return failure();
  if (scales->size() == 2)
    spec.scales = spec::FactorScales::each;
  return ProductCall{spec, buffers, *scales, locationsOf(kernel)};
}

} // namespace weir
