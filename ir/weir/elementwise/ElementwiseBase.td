//===- ElementwiseBase.td - What elementwise ops share -----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ELEMENTWISEBASE_TD
#define WEIR_ELEMENTWISEBASE_TD

include "ir/weir/WeirBase.td"

// The trait of an elementwise op with identities of its own, in Fold.cpp.
def Simplified : DeclareOpInterfaceMethods<Simplifiable, ["identity"]>;

class Weir_ElementwiseOp<string mnemonic, list<Trait> traits>
    : Weir_TensorOp<mnemonic, !listconcat(traits, [
        SameOperandsAndResultShape, DeclareOpInterfaceMethods<Pointwise>, Lowered])> {
  bit elementary = 0;
  let flops = "1";
  let fusion = "fused";
  let hasFolder = 1;
  let members = !if(elementary, "int64_t weight() { return ::weir::elementaryWeight; }\n", "");
  let definitions = [{
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::weir::foldPointwise(*this, adaptor.getOperands());
    }
    ::mlir::Value $cppClass::element(::mlir::OpBuilder &builder, unsigned result, ::mlir::ValueRange indices,
                                     ::weir::ElementOf operand) {
      return ::weir::elementwiseElement(*this, builder, indices, operand);
    }
    ::weir::ShardRule $cppClass::shardRule() { return ::weir::elementwiseShardRule(*this); }
  }];
}

class Weir_UnaryOp<string mnemonic, Type type, string text, list<Trait> traits = []>
    : Weir_ElementwiseOp<mnemonic, !listconcat(traits, [SameOperandsAndResultType, Weir_ComputesFloats])> {
  let summary = text;
  let description = "C1: the operand and the result have one type.  C2: `compute` is f32, f16 or bf16, of an op on floats.";
  let arguments = (ins type:$input, OptionalAttr<Weir_WorkType>:$compute);
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input, ::mlir::TypeAttr()); }]>];
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

// Exact, and no gradient flows through it.
class Weir_FlatOp<string mnemonic, string text, list<Trait> traits = []>
    : Weir_UnaryOp<mnemonic, Weir_FloatTensor, text, !listconcat([Differentiated], traits)> {
  let rounding = "none";
  let members = "bool passesGradient() { return false; }\n";
}

class Weir_BinaryOp<string mnemonic, Type type, string text, list<Trait> traits = []>
    : Weir_ElementwiseOp<mnemonic, !listconcat(traits, [SameOperandsAndResultType, Weir_ComputesFloats])> {
  let summary = text;
  let description = "C1: the operands and the result have one type.  C2: `compute` is f32, f16 or bf16, of an op on floats.";
  let arguments = (ins type:$lhs, type:$rhs, OptionalAttr<Weir_WorkType>:$compute);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs),
      [{ build($_builder, $_state, lhs, rhs, ::mlir::TypeAttr()); }]>];
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif
