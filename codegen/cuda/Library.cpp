//===- Library.cpp - Kernels that cuBLASLt serves -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Library.h"

#include "codegen/kernel/ProductSpec.h"
#include "ir/weir/ElementTypes.h"

using namespace mlir;

namespace weir::gpu {

static bool isFactor(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

std::string libraryDeclines(Operation *root) {
  if (!isa<MatmulOp>(root))
    return "no op of the library's";
  Type factor = tensorType(root->getOperand(0)).getElementType();
  if (!isFactor(factor))
    return "tensors of other elements than f32, bf16 and f16";
  if (tensorType(root->getOperand(1)).getElementType() != factor)
    return "operands of different elements";
  if (!tensorType(root->getResult(0)).getElementType().isF32())
    return "results of other elements than f32";
  return "";
}

bool libraryTakes(Operation *root, Epilogue epilogue) {
  // What the library's relu makes of NaN, it does not say; what has gone wrong must show.
  if (epilogue.relu)
    return false;
  if (epilogue.result && epilogue.result != tensorType(root->getOperand(0)).getElementType())
    return false;
  // It adds a bias of the result's own elements alone.
  Type result = epilogue.result ? epilogue.result : tensorType(root->getResult(0)).getElementType();
  return !epilogue.bias || epilogue.bias == result;
}

FailureOr<int64_t> emitLibraryCall(OpBuilder &builder, KernelOp kernel,
                                   const CallBuffers &operands) {
  FailureOr<ProductCall> call = productCall(kernel, operands);
  if (failed(call))
    return failure();
  call->spec.tileBatch = call->spec.batch;
  call->spec.tileM = call->spec.m;
  call->spec.tileN = call->spec.n;
  plan::CallOp::create(builder, call->loc, plan::SpecAttr::get(builder.getContext(), call->spec),
                       call->buffers);
  return 0;
}

} // namespace weir::gpu
