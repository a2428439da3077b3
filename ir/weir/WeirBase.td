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
  let name = "weir";
  let cppNamespace = "::weir";
  let summary = "The training step as tensors: value semantics, static shapes.";
  let description = [{
    Tensors are row-major values of static shape, with at most 2147483647 elements. A whole entry (init, step, eval,
    predict) is one function over tensors; what persists between steps is a `weir.variable`. Types of storage,
    computation and accumulation are apart: the tensor's element type is what is stored, the attribute `compute` what
    elementwise work is done in, and `accumulate` what sums are kept in; both are f32 where absent.
  }];
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

// A model file's limit (frontend/elaborate/Value.h), for programs that are read as text too: without one, the product of the
// sizes of a tensor could wrap.
def Weir_Fits : CPred<"::weir::fits(::llvm::cast<::mlir::ShapedType>($_self).getShape())">;
class Weir_TensorOf<list<Type> elements>
    : ConfinedType<StaticShapeTensorOf<elements>, [Weir_Fits],
                   StaticShapeTensorOf<elements>.summary # ", with at most 2147483647 elements">;

def Weir_Tensor : Weir_TensorOf<[F32, I32, UI8, I1]>;
def Weir_FloatTensor : Weir_TensorOf<[F32]>;
def Weir_IntTensor : Weir_TensorOf<[I32]>;
def Weir_BoolTensor : Weir_TensorOf<[I1]>;
def Weir_NumberTensor : Weir_TensorOf<[F32, I32]>;
def Weir_Scalar : 0DTensorOf<[F32, I32, I1]>;
def Weir_FloatScalar : 0DTensorOf<[F32]>;
def Weir_IntScalar : 0DTensorOf<[I32]>;
def Weir_BoolScalar : 0DTensorOf<[I1]>, BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

class Weir_Op<string mnemonic, list<Trait> traits = []> : Op<Weir_Dialect, mnemonic, traits>;

// The type of elementwise work and that of sums; f32 where absent, and the only one there is so far.
def Weir_WorkType : TypeAttrOf<F32>;

// An op that computes tensors: pure, with a cost, and rules for precision and sharding.
class Weir_TensorOp<string mnemonic, list<Trait> traits = []>
    : Weir_Op<mnemonic, !listconcat(traits, [
        Pure, DeclareOpInterfaceMethods<Costed, ["cost"]>, DeclareOpInterfaceMethods<Castable, ["castRule"]>,
        DeclareOpInterfaceMethods<Shardable, ["shardRule"]>])>;

// The trait of an op whose vector-Jacobian product is written in its family's folder.
def Differentiated : DeclareOpInterfaceMethods<Differentiable, ["vjp"]>;
// The trait of an op whose elements are.
def Lowered : DeclareOpInterfaceMethods<Lowerable, ["element"]>;

#endif
