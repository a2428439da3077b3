//===- WeirBase.td - The weir dialect: base classes ---------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_BASE_TD
#define WEIR_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ir/weir/WeirInterfaces.td"

def Weir_Dialect : Dialect {
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let name = "weir";
  let cppNamespace = "::weir";
  let summary = "The training step as tensors: value semantics, static shapes.";
  let description = [{
    Tensors are row-major values of static shape, with 1 to 2^56 elements. A target may limit
    what one rank has of them (weir-verify-sizes). A whole entry (init, step, eval,
    predict) is one function over tensors; what persists between steps is a `weir.variable`. Types of storage,
    computation and accumulation are apart: the tensor's element type is what is stored, the attribute `compute` what
    elementwise work is done in, and `accumulate` what sums are kept in; both are f32 where absent, and no op has one that it
    does not declare. A rewrite gives what it builds for an op that op's types; where it finds that nothing is to be computed,
    nothing is rounded.

    Floats of low precision (bf16, f16, f8E4M3FN, f8E5M2) are moved, chosen, multiplied by products and convolutions, and
    nothing else: all arithmetic is in f32. `weir.cast` alone rounds to them, so that a value has the same bits wherever it is
    computed, stored or not.
  }];
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

// A model file's limit (frontend/elaborate/Value.h), for programs that are read as text too: without one, the product of the
// sizes of a tensor could wrap.
// Asked of the type itself: most of verifying is asking this, and MLIR's own constraint asks an interface, three times.
def Weir_IsWhole : CPred<"::weir::isWhole($_self)">;
class Weir_TensorOf<list<Type> elements>
    : ContainerType<AnyTypeOf<elements>, Weir_IsWhole, "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()",
                    "statically shaped tensor", "::mlir::RankedTensorType"> {
  let summary = StaticShapeTensorOf<elements>.summary # ", with 1 to 2^56 elements";
}

def Weir_Tensor : Weir_TensorOf<[F32, I32, UI8, I1, BF16, F16, F8E4M3FN, F8E5M2]>;
def Weir_FloatTensor : Weir_TensorOf<[F32]>;
// What products take: they are exact, and summed up in f32.
def Weir_FactorTensor : Weir_TensorOf<[F32, BF16, F16, F8E4M3FN, F8E5M2]>;
def Weir_IntTensor : Weir_TensorOf<[I32]>;
def Weir_BoolTensor : Weir_TensorOf<[I1]>;
def Weir_NumberTensor : Weir_TensorOf<[F32, I32]>;
def Weir_Scalar : 0DTensorOf<[F32, I32, I1]>;
def Weir_FloatScalar : 0DTensorOf<[F32]>;
def Weir_IntScalar : 0DTensorOf<[I32]>;
def Weir_BoolScalar : 0DTensorOf<[I1]>, BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

// What is not declared is checked by no constraint and read by no rewrite, and would be lost with the op.
def Weir_DeclaresWorkTypes : PredOpTrait<
    "`compute` and `accumulate` are of an op that declares them",
    CPred<"!$_op.getDiscardableAttr(\"compute\") && !$_op.getDiscardableAttr(\"accumulate\")">>;

class Weir_Op<string mnemonic, list<Trait> traits = []>
    : Op<Weir_Dialect, mnemonic, !listconcat(traits, [Weir_DeclaresWorkTypes])>;

// The type of elementwise work and that of sums; f32 where absent.
def Weir_WorkType : TypeAttrOf<AnyTypeOf<[F32, F16, BF16], "f32, f16 or bf16">>;
def Weir_ComputesFloats : PredOpTrait<
    "`compute` is of an op on floats",
    CPred<"!$_op.getAttr(\"compute\") || "
          "::llvm::isa<::mlir::FloatType>(::mlir::getElementTypeOrSelf($_op.getResult(0).getType()))">>;

// An op that computes tensors: pure, and with what passes ask of it. Where that is as simple as a field, the field says it;
// where the field is empty, the method is written in the family's folder.
class Weir_TensorOp<string mnemonic, list<Trait> traits = []>
    : Weir_Op<mnemonic, !listconcat(traits, [Pure, Costed, Castable, Shardable, Fusible])> {
  // shardRule(): how dimensions move together, in the notation of ir/weir/interfaces/Factors.h.
  string factors = "";
  // cost(): floating-point operations at each point of the factors. Bytes are those of operands and results, each once.
  string flops = "0";
  // linearity(), one of Linearity.
  string linear = "none";
  // castRule(): values that are multiplied, moved or compared may be of low precision; statistics (means, log-sum-exps,
  // losses) and sums may not, since a small term would vanish beside them. All floats may but these, by position.
  string accumulates = "false";
  string multiplies = "nothing"; // one of Multiplies
  list<int> highOperands = [];
  list<int> highResults = [];
  // rounding(), one of RoundingKind.
  string rounding = "once";
  // fusionClass(), one of FusionClass.
  string fusion = "root";
  // kernelShape(), one of KernelShape.
  string shape = "call";
  // reductionSplit(), an expression.
  string split = "::std::nullopt";
  // What else is declared and defined in C++.
  code members = "";
  code definitions = "";
  // Of an op whose result types follow from the factors, with DeclareOpInterfaceMethods<InferTypeOpInterface>.
  code inferredByFactors = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::weir::inferByFactors(factors(), operands, types);
    }
  }];

  let extraClassDeclaration = [{
    ::weir::Cost cost();
    ::weir::CastRule castRule();
    ::weir::ShardRule shardRule();
    ::weir::Linearity linearity();
    ::weir::RoundingKind rounding();
    ::weir::FusionClass fusionClass();
    ::weir::KernelShape kernelShape();
    ::std::optional<::weir::ReductionSplit> reductionSplit();
  }] # !if(!empty(factors), "", "static ::llvm::StringRef factors() { return \"" # factors # "\"; }\n") # members;
  let extraClassDefinition =
    !if(!empty(factors), "",
        "::weir::ShardRule $cppClass::shardRule() { return ::weir::ruleOf(*this, factors()); }\n") #
    !if(!empty(flops), "",
        "::weir::Cost $cppClass::cost() { return ::weir::costAt(*this, shardRule(), " # flops # "); }\n") #
    !if(!empty(linear), "",
        "::weir::Linearity $cppClass::linearity() { return ::weir::Linearity::" # linear # "; }\n") #
    !if(!empty(accumulates), "",
        "::weir::CastRule $cppClass::castRule() { return ::weir::floatsBut(*this, " # accumulates # ", ::weir::Multiplies::" # multiplies # ", {" #
            !interleave(highOperands, ", ") # "}, {" # !interleave(highResults, ", ") # "}); }\n") #
    !if(!empty(rounding), "",
        "::weir::RoundingKind $cppClass::rounding() { return ::weir::RoundingKind::" # rounding # "; }\n") #
    !if(!empty(fusion), "",
        "::weir::FusionClass $cppClass::fusionClass() { return ::weir::FusionClass::" # fusion # "; }\n") #
    "::weir::KernelShape $cppClass::kernelShape() { return ::weir::KernelShape::" # shape # "; }\n" #
    !if(!empty(split), "",
        "::std::optional<::weir::ReductionSplit> $cppClass::reductionSplit() { return " # split # "; }\n") #
    definitions;
}

// The trait of an op whose vector-Jacobian product is written in its family's folder.
def Differentiated : DeclareOpInterfaceMethods<Differentiable, ["vjp"]>;
// The trait of an op that is another on a rank's shares.
def Localized : DeclareOpInterfaceMethods<Localizable>;
// The trait of an op whose elements are.
def Lowered : DeclareOpInterfaceMethods<Lowerable, ["element"]>;
// The trait of an op that is made of others in its family's folder.
def Decomposed : DeclareOpInterfaceMethods<Decomposable, ["decompose"]>;

#endif
