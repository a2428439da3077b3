//===- Convolution.td - Convolutions and pools -------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CONVOLUTION_TD
#define WEIR_CONVOLUTION_TD

include "ir/weir/WeirBase.td"

// Two spatial dimensions, images [n, c, h, w], weights [o, c, kh, kw], results [n, o, h', w'].
class Weir_ConvolutionFamilyOp<string mnemonic, list<Trait> traits> : Weir_TensorOp<mnemonic, !listconcat(traits, [Lowered])> {
  let flops = "2";
  let accumulates = "true";
  let multiplies = "low";
  let rounding = "products";
  let linear = "any";
  let hasVerifier = 1;
}

def Weir_ConvolutionOp : Weir_ConvolutionFamilyOp<"convolution", [Differentiated, InferTypeOpAdaptor]> {
  let summary = "two-dimensional cross-correlation of images [n, c, h, w] with weights [o, c, kh, kw]";
  let description = [{
    C1: four dimensions each; strides positive, padding not negative, two of each.  C2: channels agree.
    C3: the result is [n, o, (h + 2 ph - kh) / sh + 1, (w + 2 pw - kw) / sw + 1], rounded down, not empty.
  }];
  let arguments = (ins Weir_FactorTensor:$input, Weir_FactorTensor:$weight, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight, "::mlir::ArrayRef<int64_t>":$strides,
                                 "::mlir::ArrayRef<int64_t>":$padding),
      [{ build($_builder, $_state, input, weight, strides, padding, ::mlir::TypeAttr()); }]>];
  let factors = "input: n c y~ x~, weight: o c p! q! -> result: n o u! v!";
}

def Weir_ConvolutionInputGradOp : Weir_ConvolutionFamilyOp<"convolution_input_grad", [Differentiated]> {
  let summary = "the cotangent of a convolution's input from that of its result";
  let description = "C1: a convolution of the result with the weight has the cotangent's shape.";
  let arguments = (ins Weir_FactorTensor:$cotangent, Weir_FactorTensor:$weight, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $weight attr-dict `:` type($cotangent) `,` type($weight) `->` type($result)";
  let factors = "cotangent: n o u! v!, weight: o c p! q! -> result: n c y~ x~";
}

def Weir_ConvolutionWeightGradOp : Weir_ConvolutionFamilyOp<"convolution_weight_grad", [Differentiated]> {
  let summary = "the cotangent of a convolution's weight from its input and the cotangent of its result";
  let description = "C1: a convolution of the input with the result has the cotangent's shape.";
  let arguments = (ins Weir_FactorTensor:$input, Weir_FactorTensor:$cotangent, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent) `->` type($result)";
  let factors = "input: n c y~ x~, cotangent: n o u! v! -> result: o c p! q!";
}

def Weir_MaxPoolOp : Weir_TensorOp<"max_pool", [Differentiated, Lowered, InferTypeOpAdaptor]> {
  let summary = "the largest element of each window of the last two dimensions; NaN where one is";
  let description = [{
    C1: at least two dimensions; window and strides are positive, two of each.
    C2: the result is [.., (h - kh) / sh + 1, (w - kw) / sw + 1], rounded down, not empty.
  }];
  let arguments = (ins Weir_FloatTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let factors = "input: *l y! x! -> result: *l u! v!";
  let flops = "";
  let rounding = "none";
}

def Weir_MaxPoolGradOp : Weir_TensorOp<"max_pool_grad", [Lowered]> {
  let summary = "the cotangent of max_pool's input: each goes to the first largest element of its window, or to the first NaN";
  let description = "C1: a max_pool of the input has the cotangent's shape.  C2: the result has the input's type.";
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$cotangent, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent) `->` type($result)";
  let hasVerifier = 1;
  let factors = "input: *l y! x!, cotangent: *l u! v! -> result: *l y x";
  let flops = "";
  // The windows over one element may overlap.
  let accumulates = "true";
}

#endif
