//===- Library.cpp - Kernels that cuBLASLt serves -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Library.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"

#include "codegen/kernel/ProductSpec.h"
#include "ir/weir/ElementTypes.h"

using namespace mlir;

namespace weir::gpu {

static bool isFactor(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

static Type elementAt(Value value) { return tensorType(value).getElementType(); }

/// "cuBLAS Library", cublasLtMatmul(): with factors of eight bits, A must be transposed and B not,
/// one may be e5m2, and pointers and dimensions are multiples of 16 bytes. The least of them here
/// are those of eight bits.
std::string libraryDeclinesF8(MatmulOp product, Type lhs, Type rhs) {
  constexpr int64_t multiple = 16;
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(lhs) || !isa<Float8E4M3FNType, Float8E5M2Type>(rhs))
    return "factors of other elements than f8E4M3FN and f8E5M2";
  if (isa<Float8E5M2Type>(lhs) && isa<Float8E5M2Type>(rhs))
    return "two factors of f8E5M2";
  for (Value value : {product.getLhs(), product.getRhs(), product.getResult()}) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (shape.size() != 2)
      return "batches of products of eight bits";
    if (llvm::any_of(shape, [](int64_t size) { return size % multiple != 0; }))
      return "sizes of eight bits that are no multiples of 16";
  }
  return "";
}

std::string libraryDeclines(Operation *root, const Architecture &architecture) {
  auto product = dyn_cast<MatmulOp>(root);
  if (!product)
    return "no op of the library's";
  Type factor = elementAt(product.getLhs()), other = elementAt(product.getRhs());
  if (!elementAt(product.getResult()).isF32())
    return "results of other elements than f32";
  if (storedBytes(factor) == 1) {
    if (!architecture.multipliesF8())
      return "factors of eight bits on a GPU that may not multiply them";
    if (product.getTransposeLhs() || !product.getTransposeRhs())
      return "factors of eight bits that are not summed along their last dimension";
    return libraryDeclinesF8(product, factor, other);
  }
  if (!isFactor(factor))
    return "tensors of other elements than f32, bf16, f16, f8E4M3FN and f8E5M2";
  return other == factor ? "" : "operands of different elements";
}

bool libraryTakes(Operation *root, Epilogue epilogue) {
  // What the library's relu makes of NaN, it does not say; what has gone wrong must show.
  if (epilogue.relu)
    return false;
  Type factor = elementAt(root->getOperand(0));
  bool isF8 = storedBytes(factor) == 1;
  if (epilogue.scaled && !isF8)
    return false;
  if (epilogue.result && !(isF8 ? isLow(epilogue.result) && storedBytes(epilogue.result) == 2
                                : epilogue.result == factor))
    return false;
  // It adds a bias of the result's own elements alone, to a product of eight bits never one of f32.
  Type result = epilogue.result ? epilogue.result : elementAt(root->getResult(0));
  return !epilogue.bias || (epilogue.bias == result && !(isF8 && result.isF32()));
}

FailureOr<int64_t> emitLibraryCall(OpBuilder &builder, KernelOp kernel,
                                   const CallBuffers &operands) {
  FailureOr<ProductCall> call = productCall(kernel, operands);
  if (failed(call))
    return failure();
  call->spec.tileBatch = call->spec.batch;
  call->spec.tileM = call->spec.m;
  call->spec.tileN = call->spec.n;
  for (auto [vector, element] : call->scales)
    call->buffers.push_back(
        plan::PartOp::create(builder, call->loc, vector, element * 4, ValueRange()));
  plan::CallOp::create(builder, call->loc, plan::SpecAttr::get(builder.getContext(), call->spec),
                       call->buffers);
  return 0;
}

} // namespace weir::gpu
