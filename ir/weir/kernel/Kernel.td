//===- Kernel.td - Ops that are computed together ----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_KERNEL_TD
#define WEIR_KERNEL_TD

include "ir/weir/WeirBase.td"

def Weir_KernelShape : I32EnumAttr<"KernelShape", "what schedule a kernel gets", [
    I32EnumAttrCase<"map", 0>,          // every result element on its own
    I32EnumAttrCase<"row", 1>,          // rows, with reductions along them and column sums across them
    I32EnumAttrCase<"nest", 2>,         // anything else: the plain loop route
    I32EnumAttrCase<"segment", 3>,      // segment_sum
    I32EnumAttrCase<"attention", 4>,    // attention and attention_grad
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
