//===- Product.td - Products -------------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PRODUCT_TD
#define WEIR_PRODUCT_TD

include "ir/weir/WeirBase.td"

def Weir_MatmulOp : Weir_TensorOp<"matmul", [Differentiated, Lowered, InferTypeOpAdaptor]> {
  let summary = "the matrix product of the last two dimensions, for every index of the leading ones";
  let description = [{
    With transpose_lhs the left operand is stored [.., k, m], with transpose_rhs the right one [.., n, k].
    C1: both have the same rank of at least 2 and the same leading dimensions.  C2: the inner sizes agree.
    C3: the result is [.., m, n].
  }];
  let arguments = (ins Weir_FactorTensor:$lhs, Weir_FactorTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "bool":$transposeLhs, "bool":$transposeRhs),
      [{ build($_builder, $_state, lhs, rhs, transposeLhs, transposeRhs, ::mlir::TypeAttr()); }]>];
  let flops = "2";
  let accumulates = "true";
  let multiplies = "low";
  let rounding = "products";
  let shape = "product";
  let linear = "any";
}

#endif
