//===- Program.td - Variables, gradients, regions ----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module holds the program: weir.variable ops, and one func.func per entry: @init, @step, @eval, @eval_one, @predict.
// Module attributes: weir.model (string), weir.configs (dictionary of strings), weir.batch, weir.accumulate, weir.steps,
// weir.epochs, weir.training_digest, weir.predict_digest (i64; Digest.h); where rows of a batch are tied, weir.tied (a dictionary
// from the entry's name to where and why); where its gradients are scaled, weir.loss_scale (string); where parameters are kept in low
// precision, weir.master (a type); behind the precision pass weir.precision (its name) and weir.choices (Choices.h), unless all is f32; behind simplification
// weir.model_flops (Contracting.h); up to rematerialization weir.recompute (Recompute.h), and behind it weir.keeping (Keeping.h). An op may have weir.pin
// and weir.pinned_at (Pins.h). The run's
// scalars are the i32 variables @"run/seed", @"run/step" and @"run/total_steps" (@step is a function; the artifact names them without the
// prefix), of a dynamic loss scale @"run/loss_scale" and @"run/good_steps". In f8 @step has @"f8/amax".
// Function arguments are inputs: weir.input (name), weir.limit (i64), weir.limit_config (string).
// Function results are outputs: weir.output (name), weir.part ("scalar", "sum", "count", "tensor"), weir.term (i64), weir.weight (f64).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PROGRAM_TD
#define WEIR_PROGRAM_TD

include "ir/weir/WeirBase.td"

def Weir_Role : I32EnumAttr<"Role", "what a variable is", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"state", 1>, I32EnumAttrCase<"optimizer", 2>,
    I32EnumAttrCase<"run", 3>]> {
  let cppNamespace = "::weir";
}

def Weir_VariableOp : Weir_Op<"variable", [Symbol]> {
  let summary = "a tensor that persists from step to step";
  let description = "Where it is the host's, it lies in the host's memory, and each use of it is of a copy (weir.fetch).";
  let arguments = (ins SymbolNameAttr:$sym_name, Weir_Role:$role, TypeAttrOf<Weir_Tensor>:$type, UnitAttr:$host);
  let assemblyFormat = "$role $sym_name (`on` `host` $host^)? attr-dict `:` $type";
}

def Weir_ReadOp : Weir_Op<"read", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "a variable's value when the entry began";
  let description = "C1: the variable exists and has the result's type.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Weir_WriteOp : Weir_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                      MemoryEffects<[MemWrite]>]> {
  let summary = "a variable's value after the entry";
  let description = [{
    Where there is a condition that does not hold, the variable stays as it was.
    C1: the variable exists and has the value's type.  C2: one write of a variable in an entry.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Weir_Tensor:$value, Optional<Weir_BoolScalar>:$condition);
  let assemblyFormat = "$variable `,` $value (`if` $condition^)? attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$variable, "::mlir::Value":$value),
      [{ build($_builder, $_state, variable, value, ::mlir::Value()); }]>];
}

def Weir_FetchOp : Weir_Op<"fetch", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a copy in the device's memory of a value in the host's";
  let description = "It is made where it stands, of a weir.put, or of a variable ahead of every write of it.";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Weir_PutOp : Weir_Op<"put", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a copy in the host's memory of a value in the device's";
  let description = "It is made where it stands. Behind fusion only weir.fetch reads it (weir-verify-fused).";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Weir_GradientOp : Weir_Op<"gradient", [Pure, InferTypeOpAdaptor]> {
  let summary = "the gradients of a scalar with respect to values it was computed from";
  let description = [{
    The autodiff pass replaces it by the backward computation. A value that the loss does not depend on has gradient zero.
    Through microbatches it is that of a weir.loss, and flows neither through counts nor through what rounds carry on.
    C1: one result of equal type per source.
  }];
  let arguments = (ins Weir_FloatScalar:$loss, Variadic<Weir_FloatTensor>:$sources);
  let results = (outs Variadic<Weir_FloatTensor>:$gradients);
  let assemblyFormat = "$loss `wrt` `(` $sources `)` attr-dict `:` functional-type(operands, $gradients)";
  let hasVerifier = 1;
}

def Weir_MicrobatchesOp : Weir_Op<"microbatches", [SingleBlock, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "runs its body once per microbatch, summing some results and carrying others on";
  let description = [{
    The body gets the round (i32), a slice of each of `sliced` (1 / count of the leading dimension, in order) and the carried
    values. It yields first the values to sum over the rounds, then the next carried ones. The op's results are the sums
    and the last carried values. The body may read values from outside.
    C1: count is positive and divides the leading dimensions.  C2: block arguments and yielded types agree with operands
    and results.  C3: it does not stand inside other microbatches.
  }];
  let arguments = (ins I64Attr:$count, Variadic<Weir_Tensor>:$sliced, Variadic<Weir_Tensor>:$carried);
  let results = (outs Variadic<Weir_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{$count `sliced` `(` $sliced `)` `carried` `(` $carried `)` attr-dict
      `:` functional-type(operands, $results) $body}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::Value round() { return getBody().front().getArgument(0); }
    unsigned numSums() { return getNumResults() - getCarried().size(); }
  }];
}

def Weir_YieldOp : Weir_Op<"yield", [Terminator, Pure, ParentOneOf<["MicrobatchesOp", "KernelOp"]>]> {
  let summary = "the results of a region";
  let description = "C1: it ends the region of microbatches or of a kernel.";
  let arguments = (ins Variadic<Weir_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Weir_KernelShape : I32EnumAttr<"KernelShape", "what schedule a kernel gets", [
    I32EnumAttrCase<"map", 0>,          // every result element on its own
    I32EnumAttrCase<"row", 1>,          // rows, with reductions along them and column sums across them
    I32EnumAttrCase<"nest", 2>,         // anything else: the plain loop route
    I32EnumAttrCase<"segment", 3>,      // segment_sum
    I32EnumAttrCase<"attention", 4>,    // attend and attend_grad
    I32EnumAttrCase<"product", 5>,      // matmul [+ bias] [relu]: a library call
    I32EnumAttrCase<"call", 6>]> {      // any op that the target has a library for
  let cppNamespace = "::weir";
}

def Weir_Rows : AttrDef<Weir_Dialect, "Rows"> {
  let mnemonic = "rows";
  let summary = "the domain of a row kernel: each value has an element for every place, every row, every column, or one";
  let parameters = (ins "int64_t":$rows, "int64_t":$columns);
  let assemblyFormat = "`<` $rows `x` $columns `>`";
}

def Weir_Epilogue : AttrDef<Weir_Dialect, "Epilogue"> {
  let mnemonic = "epilogue";
  let summary = "what a product kernel does with the product: adds the vector that is its input number `bias`, takes what is above zero";
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$bias, DefaultValuedParameter<"bool", "false">:$relu);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Weir_KernelOp : Weir_Op<"kernel", [SingleBlock, IsolatedFromAbove, Pure]> {
  let summary = "ops that are computed together; the region is the kernel's meaning";
  let description = [{
    Fusion decides the domain; whoever runs the kernel obeys it.
    C1: block arguments and yielded types agree with operands and results.  C2: only weir ops inside.  C3: the domain is rows
    for a row kernel, an epilogue for a product, and none for other shapes.  C4: there is a row and a column, and a tensor of them; a
    result of rows has one element, or one for every place, row or column.  C5: an epilogue's bias is one of the inputs.
    C6: of several copies each has as many inputs, ops and results, one copy's behind another's.
  }];
  let arguments = (ins Weir_KernelShape:$shape, OptionalAttr<AnyAttrOf<[Weir_Rows, Weir_Epilogue]>>:$domain,
                       Variadic<Weir_Tensor>:$inputs, DefaultValuedAttr<I64Attr, "1">:$copies);
  let results = (outs Variadic<Weir_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$shape (`over` $domain^)? `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weir::RowsAttr rows() { return ::llvm::cast<::weir::RowsAttr>(getDomainAttr()); }
    ::weir::EpilogueAttr epilogue() { return ::llvm::cast<::weir::EpilogueAttr>(getDomainAttr()); }
  }];
}

#endif
