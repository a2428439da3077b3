//===- Structure.td - Constants and layout -----------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRUCTURE_TD
#define WEIR_STRUCTURE_TD

include "ir/weir/WeirBase.td"

class Weir_StructureOp<string mnemonic, list<Trait> traits = []>
    : Weir_TensorOp<mnemonic, !listconcat(traits, [Lowered])> {
  let rounding = "none";
  let fusion = "cheap";
  let hasVerifier = 1;
}

class Weir_LayoutOp<string mnemonic, list<Trait> traits = []>
    : Weir_StructureOp<mnemonic, !listconcat(traits, [Differentiated])> {
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let linear = "together";
  let members = "bool movesElements() { return true; }\n";
}

def Weir_ConstantOp : Weir_StructureOp<"constant", [ConstantLike]> {
  let summary = "one value everywhere";
  let description = "C1: the value's type is the result's element type.";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasFolder = 1;
  // A number for f32 tensors, and any whole number or truth value for the others.
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "double":$value)>];
}

def Weir_IotaOp : Weir_StructureOp<"iota", [Localized]> {
  let summary = "the index along one dimension";
  let description = "C1: dimension is one of the result's.  C2: it has at most 2147483648 places.";
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Weir_IntTensor:$result);
  let assemblyFormat = "attr-dict `->` type($result)";
}

def Weir_BroadcastOp : Weir_LayoutOp<"broadcast", [DeclareOpInterfaceMethods<View, ["use"]>]> {
  let summary = "repeats the input along new dimensions and those of size 1";
  let description = [{
    Dimension i of the input is dimension `dimensions[i]` of the result.
    C1: dimensions has one entry per input dimension, strictly increasing, each a dimension of the result.
    C2: each input dimension has the result's size there, or 1.  C3: the element types are equal.
  }];
  let arguments = (ins Weir_Tensor:$input, DenseI64ArrayAttr:$dimensions);
  let hasFolder = 1;
}

def Weir_TransposeOp : Weir_LayoutOp<"transpose", [DeclareOpInterfaceMethods<View, ["retrace"]>, InferTypeOpAdaptor]> {
  let summary = "dimension i of the result is dimension permutation[i] of the input";
  let description = "C1: permutation is one of the input's dimensions.  C2: sizes follow it, and the element types are equal.";
  let arguments = (ins Weir_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let hasFolder = 1;
}

def Weir_SplitDimOp : Weir_LayoutOp<"split_dim", [Localized, DeclareOpInterfaceMethods<View, ["retrace"]>, InferTypeOpAdaptor]> {
  let summary = "cuts one dimension into several";
  let description = [{
    C1: dimension is one of the input's.  C2: the product of sizes is its size, and sizes take its place; the element types
    are equal.
  }];
  let arguments = (ins Weir_Tensor:$input, I64Attr:$dimension, DenseI64ArrayAttr:$sizes);
  let hasFolder = 1;
  let fusion = "alias";
}

def Weir_MergeDimsOp : Weir_LayoutOp<"merge_dims", [DeclareOpInterfaceMethods<View, ["retrace"]>, InferTypeOpAdaptor]> {
  let summary = "makes `count` dimensions from `first` on into one; count 0 inserts a dimension of size 1";
  let description = [{
    C1: the dimensions exist.  C2: the result's dimension is their product, the others are unchanged; the element types are
    equal.
  }];
  let arguments = (ins Weir_Tensor:$input, I64Attr:$first, I64Attr:$count);
  let hasFolder = 1;
  let fusion = "alias";
}

def Weir_SliceOp : Weir_LayoutOp<"slice", [Localized, DeclareOpInterfaceMethods<View, ["use"]>]> {
  let summary = "elements offsets[d] + i * strides[d] of every dimension d";
  let description = [{
    C1: equal ranks, one offset and stride per dimension, strides positive.  C2: offsets are not negative and the last
    element lies in the input.  C3: the element types are equal.
  }];
  let arguments = (ins Weir_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let hasFolder = 1;
  let flops = "";
}

def Weir_PadOp : Weir_LayoutOp<"pad", [Localized]> {
  let summary = "the input at offsets[d] + i * strides[d], zero elsewhere: slice's transpose";
  let description = [{
    C1: equal ranks, one offset and stride per dimension, strides positive.  C2: offsets are not negative and the last
    element lies in the result.  C3: the element types are equal.
  }];
  let arguments = (ins Weir_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let hasFolder = 1;
}

def Weir_ConcatOp : Weir_StructureOp<"concat", [Differentiated, InferTypeOpAdaptor]> {
  let summary = "the inputs one after the other along a dimension";
  let description = [{
    C1: at least one input, dimension is one of theirs, equal ranks and element types, equal sizes but for the dimension.
    C2: the result's is the sum.
  }];
  let arguments = (ins Variadic<Weir_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result)";
  let fusion = "fused";
  let members = "bool movesElements() { return true; }\n";
}

#endif
