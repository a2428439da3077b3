//===- WeirInterfaces.td - What passes ask of an op ---------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_INTERFACES_TD
#define WEIR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Differentiable : OpInterface<"Differentiable"> {
  let cppNamespace = "::weir";
  let description = [{
    The vector-Jacobian product, built as IR. `cotangents` has one entry per result, null where no gradient arrives;
    `operandCotangents` gets one per operand, null where none flows. The builder stands after every value the product may
    use, so the op's own operands and results may be read.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::LogicalResult", "vjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ArrayRef<::mlir::Value>":$cotangents,
           "::mlir::SmallVectorImpl<::mlir::Value> &":$operandCotangents)>,
    InterfaceMethod<"Whether there is a product for any operand of floats.", "bool", "passesGradient", (ins), [{}],
        [{ return true; }]>,
    InterfaceMethod<[{
        Of an op that chooses between operands, element by element: where it chooses this one, as truth values. Null of any
        other op or operand.}],
        "::mlir::Value", "whereChosen", (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand), [{}],
        [{ return {}; }]>,
    InterfaceMethod<[{
        Whether the result's elements are the operands', moved, repeated or left out: the product of zeros and ones says where
        an operand's elements are used where the ones are.}],
        "bool", "movesElements", (ins), [{}], [{ return false; }]>];
}

def Costed : OpInterface<"Costed"> {
  let cppNamespace = "::weir";
  let description = [{Floating-point operations of one execution, and the bytes of its operands and results.}];
  let methods = [InterfaceMethod<"", "::weir::Cost", "cost", (ins)>];
}

def Lowerable : OpInterface<"Lowerable"> {
  let cppNamespace = "::weir";
  let description = [{
    The loop nest of an op, in pull form: builds the scalar value of result `result` at `indices` (index-typed, one per
    dimension), asking `operand(i, indices)` for elements of its operands. Reductions build their own loops. The scalar is
    of the result's element type; ui8 and i1 elements are i8 and i1, floats of low precision an integer of their bits. Schedules (rows, vectors, tasks) belong to codegen.
  }];
  let methods = [InterfaceMethod<"", "::mlir::Value", "element",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$result, "::mlir::ValueRange":$indices,
           "::weir::ElementOf":$operand)>];
}

def Pointwise : OpInterface<"Pointwise"> {
  let cppNamespace = "::weir";
  let description = [{An op whose result at an index depends on its operands at that index alone.}];
  let methods = [
    InterfaceMethod<"The result's scalar from the operands' scalars.", "::mlir::Value", "combine",
        (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$scalars)>,
    InterfaceMethod<"How many simple operations the scalar takes: an elementary function is a polynomial.",
        "int64_t", "weight", (ins), [{}], [{ return 1; }]>];
}

def Castable : OpInterface<"Castable"> {
  let cppNamespace = "::weir";
  let description = [{Precision: what may be stored as low-precision floats, and how far from the truth a result may be.}];
  let methods = [
    InterfaceMethod<"Which operands and results may be low, and whether the op keeps sums.",
        "::weir::CastRule", "castRule", (ins)>,
    InterfaceMethod<"How its results round.", "::weir::RoundingKind", "rounding", (ins)>];
}

def Shardable : OpInterface<"Shardable"> {
  let cppNamespace = "::weir";
  let description = [{
    How the op can be sharded. A rule assigns a factor to each dimension of the operands and results, as a letter of einsum
    does: in `mk,kn->mn`, the factors are m, k and n. Dimensions with the same factor are sharded together. If a rank has a
    shard of m, it computes the same shard of the result. If it has a shard of k, which the result lacks, its result is
    partial: one term of a sum over ranks. Some factors cannot be sharded.
  }];
  let methods = [
    InterfaceMethod<"", "::weir::ShardRule", "shardRule", (ins)>,
    InterfaceMethod<[{
        In which operands the op is linear. If such an operand is partial, the result may be partial: the op is applied to
        each term, and the terms are added up after it.}],
        "::weir::Linearity", "linearity", (ins)>];
}

def Localizable : OpInterface<"Localizable"> {
  let cppNamespace = "::weir";
  let description = [{
    An op that says something of its dimensions besides its types: sizes, places, integers that count in them.
  }];
  let methods = [InterfaceMethod<[{
      The op for what a rank has: of these operands, with results of these types, built where the builder stands.}],
      "::mlir::Operation *", "localize",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::mlir::TypeRange":$types, "::weir::Shares &":$shares)>];
}

def Combining : OpInterface<"Combining"> {
  let cppNamespace = "::weir";
  let description = [{An op with factors of the kind `combined`.}];
  let methods = [InterfaceMethod<[{
      Its results from those of all shards of such a factor: each has a leading dimension of shards.}],
      "::llvm::SmallVector<::mlir::Value>", "combine", (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$parts)>];
}

def Fusible : OpInterface<"Fusible"> {
  let cppNamespace = "::weir";
  let description = [{Whether the op is computed together with others.}];
  let methods = [
    InterfaceMethod<"What fusion does with it.", "::weir::FusionClass", "fusionClass", (ins)>,
    InterfaceMethod<[{
        The shape of the kernel that it is the root of, unless the target declines that. Of no meaning where it is no root.}],
        "::weir::KernelShape", "kernelShape", (ins)>,
    InterfaceMethod<[{
        How it divides its first operand's dimensions where it reduces along the leading or the trailing ones; nothing where
        it does neither.}],
        "::std::optional<::weir::ReductionSplit>", "reductionSplit", (ins)>];
}

def View : OpInterface<"View"> {
  let cppNamespace = "::weir";
  let description = [{The elements of its only operand in another order, or some of them, or some repeatedly.}];
  let methods = [
    InterfaceMethod<"Makes the strides over the operand those over the result; false where there are none.",
        "bool", "follow", (ins "::weir::Strides &":$strides)>,
    InterfaceMethod<[{
        Makes the strides over the result those over the operand; false where there are none, as with every op that does not
        use each element once.}],
        "bool", "retrace", (ins "::weir::Strides &":$strides), [{}], [{ return false; }]>,
    InterfaceMethod<"How often it uses the operand's elements.", "::weir::ViewUse", "use", (ins), [{}],
        [{ return ::weir::ViewUse::each; }]>];
}

def Picking : OpInterface<"Picking"> {
  let cppNamespace = "::weir";
  let description = [{An op of integers that pick one of a number of rows, or name one of a number of classes.}];
  let methods = [InterfaceMethod<"The integers, and that number.", "::weir::Picks", "picks", (ins)>];
}

def Decomposable : OpInterface<"Decomposable"> {
  let cppNamespace = "::weir";
  let description = [{
    A composite: what its results are in terms of reductions, elementwise ops and products. Stable (the largest score is
    subtracted before exp), and the meaning that fused implementations are compared with.
  }];
  let methods = [InterfaceMethod<"", "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>];
}

def Simplifiable : OpInterface<"Simplifiable"> {
  let cppNamespace = "::weir";
  let description = [{A Pointwise op with identities, such as x + 0. Folding of constants alone needs none.}];
  let methods = [InterfaceMethod<[{
      What the op folds to; null where no identity applies. `operands` has the constant scalars, null where an operand is
      none.}],
      "::mlir::OpFoldResult", "identity", (ins "::llvm::ArrayRef<::mlir::Attribute>":$operands)>];
}

#endif
