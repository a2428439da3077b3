//===- WeirCompute.td - Reductions, products, composites ----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_COMPUTE_TD
#define WEIR_COMPUTE_TD

include "ir/weir/WeirBase.td"

def Weir_Reduction : I32EnumAttr<"Reduction", "how reduce combines", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>]> {
  let cppNamespace = "::weir";
}

def Weir_ReduceOp : Weir_TensorOp<"reduce", [Differentiated, Lowered]> {
  let summary = "combines the elements along axes, which the result no longer has";
  let description = [{
    C1: axes are dimensions of the input, strictly increasing.  C2: the result has the others, in order, and the input's
    element type. The gradient of a maximum or minimum goes to the first element that attains it.
  }];
  let arguments = (ins Weir_NumberTensor:$input, Weir_Reduction:$kind, DenseI64ArrayAttr:$axes,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_NumberTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "Reduction":$kind, "::mlir::ArrayRef<int64_t>":$axes)>];
}

def Weir_ArgMaxOp : Weir_TensorOp<"argmax", [Lowered]> {
  let summary = "the index of the largest element along an axis, the first of equals; of the first NaN where one is";
  let description = "C1: axis is a dimension of the input.  C2: the result has the others.";
  let arguments = (ins Weir_NumberTensor:$input, I64Attr:$axis);
  let results = (outs Weir_IntTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int64_t":$axis)>];
}

def Weir_MatmulOp : Weir_TensorOp<"matmul", [Differentiated, Lowered]> {
  let summary = "the matrix product of the last two dimensions, for every index of the leading ones";
  let description = [{
    With transpose_lhs the left operand is stored [.., k, m], with transpose_rhs the right one [.., n, k].
    C1: both have the same rank of at least 2 and the same leading dimensions.  C2: the inner sizes agree.
    C3: the result is [.., m, n].
  }];
  let arguments = (ins Weir_FloatTensor:$lhs, Weir_FloatTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "bool":$transposeLhs, "bool":$transposeRhs)>];
}

// Two spatial dimensions, images [n, c, h, w], weights [o, c, kh, kw], results [n, o, h', w'].
class Weir_ConvolutionFamilyOp<string mnemonic, list<Trait> traits> : Weir_TensorOp<mnemonic, !listconcat(traits, [Lowered])> {
  let hasVerifier = 1;
}

def Weir_ConvolutionOp : Weir_ConvolutionFamilyOp<"convolution", [Differentiated]> {
  let summary = "two-dimensional cross-correlation of images [n, c, h, w] with weights [o, c, kh, kw]";
  let description = [{
    C1: four dimensions each; strides positive, padding not negative, two of each.  C2: channels agree.
    C3: the result is [n, o, (h + 2 ph - kh) / sh + 1, (w + 2 pw - kw) / sw + 1], rounded down, not empty.
  }];
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$weight, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight, "::mlir::ArrayRef<int64_t>":$strides,
                                 "::mlir::ArrayRef<int64_t>":$padding)>];
}

def Weir_ConvolutionInputGradOp : Weir_ConvolutionFamilyOp<"convolution_input_grad", [Differentiated]> {
  let summary = "the cotangent of a convolution's input from that of its result";
  let description = "C1: a convolution of the result with the weight has the cotangent's shape.";
  let arguments = (ins Weir_FloatTensor:$cotangent, Weir_FloatTensor:$weight, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $weight attr-dict `:` type($cotangent) `,` type($weight) `->` type($result)";
}

def Weir_ConvolutionWeightGradOp : Weir_ConvolutionFamilyOp<"convolution_weight_grad", [Differentiated]> {
  let summary = "the cotangent of a convolution's weight from its input and the cotangent of its result";
  let description = "C1: a convolution of the input with the result has the cotangent's shape.";
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$cotangent, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent) `->` type($result)";
}

def Weir_MaxPoolOp : Weir_TensorOp<"max_pool", [Differentiated, Lowered]> {
  let summary = "the largest element of each window of the last two dimensions; NaN where one is";
  let description = [{
    C1: at least two dimensions; window and strides are positive, two of each.
    C2: the result is [.., (h - kh) / sh + 1, (w - kw) / sw + 1], rounded down, not empty.
  }];
  let arguments = (ins Weir_FloatTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::ArrayRef<int64_t>":$window,
                                 "::mlir::ArrayRef<int64_t>":$strides)>];
}

def Weir_MaxPoolGradOp : Weir_TensorOp<"max_pool_grad", [Lowered]> {
  let summary = "the cotangent of max_pool's input: each goes to the first largest element of its window, or to the first NaN";
  let description = "C1: a max_pool of the input has the cotangent's shape.  C2: the result has the input's type.";
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$cotangent, DenseI64ArrayAttr:$window,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $cotangent attr-dict `:` type($input) `,` type($cotangent) `->` type($result)";
  let hasVerifier = 1;
}

def Weir_NormalizeOp : Weir_TensorOp<"normalize", [Differentiated, Lowered, AllTypesMatch<["input", "normalized"]>,
    AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "(x - mean) * rstd along the last dimension, rstd = 1 / sqrt(variance + eps)";
  let description = [{
    C1: normalized has the input's type, mean and rstd lack its last dimension, which is not empty.
    C2: eps is not negative.
  }];
  let arguments = (ins Weir_FloatTensor:$input, F64Attr:$eps, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$normalized, Weir_FloatTensor:$mean, Weir_FloatTensor:$rstd);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($mean)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "double":$eps)>];
}

def Weir_NormalizeGradOp : Weir_TensorOp<"normalize_grad", [Lowered, AllTypesMatch<["input", "cotangent", "result"]>,
    AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "the cotangent of normalize's input";
  let description = [{
    With y the normalized input and g its cotangent: rstd * (g - average(g) - y * average(g * y)).
    C1: the input, the cotangent and the result have one type; mean and rstd lack its last dimension.
  }];
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$mean, Weir_FloatTensor:$rstd,
                       Weir_FloatTensor:$cotangent, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$input `,` $mean `,` $rstd `,` $cotangent attr-dict
      `:` type($input) `,` type($mean)}];
  let hasVerifier = 1;
}

def Weir_SoftmaxCrossEntropyOp : Weir_TensorOp<"softmax_cross_entropy", [Differentiated, Lowered,
    AllTypesMatch<["loss", "log_sum_exp"]>]> {
  let summary = "log(sum(exp(logits))) - logits[label] along the last dimension";
  let description = [{
    C1: labels, loss and log_sum_exp have the logits' shape without its last dimension. Labels lie in [0, classes); those
    that are an input or a part of one are checked before a step, and one outside picks no class: its loss is log_sum_exp.
  }];
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$loss, Weir_FloatTensor:$log_sum_exp);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$labels)>];
}

def Weir_SoftmaxCrossEntropyGradOp : Weir_TensorOp<"softmax_cross_entropy_grad", [Lowered,
    AllTypesMatch<["logits", "result"]>, AllTypesMatch<["log_sum_exp", "cotangent"]>]> {
  let summary = "the cotangent of the logits: (exp(logits - log_sum_exp) - (index = label)) * cotangent";
  let description = "C1: the result has the logits' type, the others its shape without the last dimension.";
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, Weir_FloatTensor:$log_sum_exp,
                       Weir_FloatTensor:$cotangent);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$logits `,` $labels `,` $log_sum_exp `,` $cotangent attr-dict
      `:` type($logits) `,` type($labels) `,` type($cotangent)}];
  let hasVerifier = 1;
}

def Weir_AttendOp : Weir_TensorOp<"attend", [Differentiated, AllTypesMatch<["query", "result"]>, AllTypesMatch<["key", "value"]>]> {
  let summary = "softmax(scale * q k^T) v, for every batch and head";
  let description = [{
    q is [b, h, t, d], k and v are [b, h, s, d]. With causal, query i sees keys up to i + s - t.
    C1: four dimensions each, which agree as said; causal needs s >= t.  C2: result has q's type, log_sum_exp is [b, h, t].
  }];
  let arguments = (ins Weir_FloatTensor:$query, Weir_FloatTensor:$key, Weir_FloatTensor:$value, F64Attr:$scale,
                       UnitAttr:$causal, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result, Weir_FloatTensor:$log_sum_exp);
  let assemblyFormat = [{$query `,` $key `,` $value attr-dict
      `:` type($query) `,` type($key) `->` type($log_sum_exp)}];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "double":$scale,
                                 "bool":$causal)>];
}

def Weir_AttendGradOp : Weir_TensorOp<"attend_grad", [AllTypesMatch<["query", "output", "cotangent", "query_grad"]>,
    AllTypesMatch<["key", "value", "key_grad", "value_grad"]>]> {
  let summary = "the cotangents of attend's query, key and value";
  let description = "C1: the operands are attend's operands, its results and the cotangent of the first; the results their types.";
  let arguments = (ins Weir_FloatTensor:$query, Weir_FloatTensor:$key, Weir_FloatTensor:$value, Weir_FloatTensor:$output,
                       Weir_FloatTensor:$log_sum_exp, Weir_FloatTensor:$cotangent, F64Attr:$scale, UnitAttr:$causal,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$query_grad, Weir_FloatTensor:$key_grad, Weir_FloatTensor:$value_grad);
  let assemblyFormat = [{$query `,` $key `,` $value `,` $output `,` $log_sum_exp `,` $cotangent attr-dict
      `:` type($query) `,` type($key) `,` type($log_sum_exp)}];
  let hasVerifier = 1;
}

def Weir_Distribution : I32EnumAttr<"Distribution", "what random draws from", [
    I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"normal", 1>]> {
  let cppNamespace = "::weir";
}

def Weir_RandomOp : Weir_TensorOp<"random", [Lowered]> {
  let summary = "random numbers: uniform in [0, 1), or normal with mean 0 and deviation 1";
  let description = [{
    Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The key is (seed, step); the counter
    is the logical element index (64 bits) and `key` (64 bits), a hash of the instance's path and the ordinal of the draw in
    it. The element index counts on over microbatches: round * elements + the row-major index.
  }];
  let arguments = (ins Weir_IntScalar:$seed, Weir_IntScalar:$step, Weir_IntScalar:$round, Weir_Distribution:$distribution,
                       I64Attr:$key);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$distribution `seed` $seed `step` $step `round` $round attr-dict
      `:` functional-type(operands, $result)}];
}

#endif
