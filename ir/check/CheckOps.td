//===- CheckOps.td - The check dialect ----------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test of an op is a program with its inputs and its expected values in it. Every function of a file, named for its
// situation, takes nothing and returns nothing; what it is given and what it expects are ops of this dialect, and the rest is
// the program under test. weir-check runs it on the interpreter and on every back end. Inputs are no constants to the compiler.
//
// What a back end does not have is said in the function's attribute check.unsupported, a dictionary from the back end's name to
// the reason: {cuda = "..."} holds for every back end whose name is "cuda" or begins with "cuda:".
//
//===----------------------------------------------------------------------===//

#ifndef CHECK_OPS_TD
#define CHECK_OPS_TD

include "ir/weir/WeirBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::weir::check";
  let summary = "What a test gives a program, and what it expects of it.";
  let dependentDialects = ["::weir::WeirDialect"];
  let hasOperationAttrVerify = 1;
}

class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic, !listconcat(traits, [HasParent<"::mlir::func::FuncOp">])> {
  let hasVerifier = 1;
}

def Check_InputOp : Check_Op<"input", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor the program is given";
  let description = "C1: the value is dense.";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
}

def Check_SetOp : Check_Op<"set", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a variable before the function";
  let description = "C1: the value is dense.  C2: the variable exists and has the value's type.";
  let arguments = (ins FlatSymbolRefAttr:$variable, TypedAttrInterface:$value);
  let assemblyFormat = "$variable `,` $value attr-dict";
}

def Check_ExpectOp : Check_Op<"expect", [AllTypesMatch<["actual", "expected"]>]> {
  let summary = "what a tensor should be";
  let description = [{
    A float agrees where it differs by at most `within` (1e-5 where absent) times the largest finite expected magnitude, with
    `each` times the expected element's own magnitude; with `exactly`, where it is the expected number. NaN agrees with NaN and an
    infinity with itself; zeros have no signs. Whole numbers and truth values are exact.
    C1: the expected value is dense.  C2: within is positive, and it is for floats.  C3: exactly has no within; each needs one.
  }];
  let arguments = (ins Weir_Tensor:$actual, TypedAttrInterface:$expected, OptionalAttr<F64Attr>:$within, UnitAttr:$each,
                       UnitAttr:$exactly);
  let assemblyFormat = "$actual `,` $expected (`within` $within^)? (`each` $each^)? (`exactly` $exactly^)? attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "what a tensor should be, computed in another way";
  let description = "As expect.  C1: within is positive, and it is for floats.  C2: each needs within.";
  let arguments = (ins Weir_Tensor:$actual, Weir_Tensor:$expected, OptionalAttr<F64Attr>:$within, UnitAttr:$each);
  let assemblyFormat = [{$actual `,` $expected (`within` $within^)? (`each` $each^)? attr-dict `:` type($actual)}];
}

def Check_ExpectVariableOp : Check_Op<"expect_variable", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a variable should be after the function";
  let description = [{
    As expect.
    C1: the expected value is dense.  C2: within is positive, and it is for floats.  C3: exactly has no within; each needs one.
    C4: the variable exists and has the value's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, TypedAttrInterface:$expected, OptionalAttr<F64Attr>:$within, UnitAttr:$each,
                       UnitAttr:$exactly);
  let assemblyFormat = [{$variable `,` $expected (`within` $within^)? (`each` $each^)? (`exactly` $exactly^)? attr-dict}];
}

#endif
