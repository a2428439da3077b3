//===- PlanOps.td - The plan dialect ------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime executes; the artifact (runtime/artifact/Artifact.fbs) is its one-to-one serialization. A module in this
// form has plan.variable, plan.kernel and plan.entry ops, the module attributes of WeirProgram.td, and plan.target (string),
// plan.persistent, plan.arena and plan.thread_scratch (bytes). Sizes and offsets are bytes; strides of products are elements.
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_OPS_TD
#define PLAN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::weir::plan";
  let summary = "What the runtime executes: buffers, launches, library calls.";
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::weir::WeirDialect"];
}

def Plan_Buffer : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of the arena";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
// An op that does something: in order, seen by everything after it.
class Plan_Action<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

def Plan_VariableOp : Plan_Op<"variable", [Symbol]> {
  let summary = "a tensor of the persistent segment";
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$role, TypeAttr:$type, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$role $sym_name (`at` $offset^)? attr-dict `:` $type";
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a compiled kernel; the region is its meaning";
  let description = [{
    Launch i runs the function `sym_name` + suffixes[i] on tasks[i] tasks. Operands are inputs, results, workspaces, of
    `sizes` bytes; written[i] tells what launches write.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$shape, ArrayAttr:$suffixes, DenseI64ArrayAttr:$tasks,
                       DenseI64ArrayAttr:$sizes, DenseBoolArrayAttr:$written, I64Attr:$thread_scratch, I64Attr:$flops,
                       I64Attr:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$shape $sym_name attr-dict-with-keyword $body";
}

def Plan_EntryOp : Plan_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a program: its ports and its actions in order";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_BufferOp : Plan_Op<"alloc", [Pure]> {
  let summary = "a range of scratch, alive from action `first` to action `last`";
  let arguments = (ins I64Attr:$size, StrAttr:$label, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$first,
                       OptionalAttr<I64Attr>:$last);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$size $label (`at` $offset^)? (`from` $first^)? (`to` $last^)? attr-dict";
}

def Plan_UseOp : Plan_Op<"use", [Pure]> {
  let summary = "a variable's memory";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$variable attr-dict";
}

def Plan_PartOp : Plan_Op<"part", [Pure]> {
  let summary = "a buffer from `offset` on; `stride` further in every round of the repeat around its user";
  let arguments = (ins Plan_Buffer:$buffer, I64Attr:$offset, DefaultValuedAttr<I64Attr, "0">:$stride);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$buffer `at` $offset attr-dict";
}

def Plan_PortOp : Plan_Op<"port", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what the host writes before the entry, or reads after it";
  let arguments = (ins StrAttr:$kind, StrAttr:$name, TypeAttr:$type, Plan_Buffer:$buffer,
                       DefaultValuedAttr<I64Attr, "0">:$term, DefaultValuedAttr<F64Attr, "1.0">:$weight,
                       DefaultValuedAttr<I64Attr, "0">:$limit, OptionalAttr<StrAttr>:$limit_config);
  let assemblyFormat = "$kind $name $buffer attr-dict `:` $type";
}

def Plan_LaunchOp : Plan_Action<"launch"> {
  let summary = "runs launch `part` of a kernel";
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$part, Variadic<Plan_Buffer>:$operands);
  let assemblyFormat = "$kernel $part `(` $operands `)` attr-dict";
}

def Plan_ProductOp : Plan_Action<"product"> {
  let summary = "a library matrix product, tile by tile; see Product in Artifact.fbs";
  let arguments = (ins Plan_Buffer:$a, Plan_Buffer:$b, Plan_Buffer:$c, Optional<Plan_Buffer>:$bias,
                       DenseI64ArrayAttr:$sizes,       // batch, m, n, k
                       DenseI64ArrayAttr:$a_strides,   // batch, row, column
                       DenseI64ArrayAttr:$b_strides,
                       DenseI64ArrayAttr:$c_strides,   // batch, row
                       UnitAttr:$relu, UnitAttr:$accumulate,
                       DenseI64ArrayAttr:$tile);       // batch, m, n
  let assemblyFormat = "$a `,` $b `to` $c (`bias` $bias^)? attr-dict";
}

def Plan_ConvolutionOp : Plan_Action<"convolution"> {
  let summary = "a library convolution, images by tiles; see Convolution in Artifact.fbs";
  let arguments = (ins StrAttr:$kind, StrAttr:$layout, Plan_Buffer:$input, Plan_Buffer:$weight, Plan_Buffer:$output,
                       Optional<Plan_Buffer>:$partials,
                       DenseI64ArrayAttr:$sizes,       // images, channels, height, width, filters, kernel h, kernel w
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, I64Attr:$tile_images);
  let assemblyFormat = "$kind $layout $input `,` $weight `,` $output (`partials` $partials^)? attr-dict";
}

def Plan_RepeatOp : Plan_Action<"repeat", [SingleBlock, NoTerminator]> {
  let summary = "the body, `count` times; the buffer holds the round (i32)";
  let arguments = (ins I64Attr:$count, Plan_Buffer:$ordinal);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count `round` $ordinal attr-dict-with-keyword $body";
}

def Plan_CopyOp : Plan_Action<"copy"> {
  let summary = "copies bytes";
  let arguments = (ins Plan_Buffer:$from, Plan_Buffer:$to, I64Attr:$size);
  let assemblyFormat = "$from `to` $to $size attr-dict";
}

def Plan_FillOp : Plan_Action<"fill"> {
  let summary = "sets bytes";
  let arguments = (ins Plan_Buffer:$to, I64Attr:$size, I64Attr:$value);
  let assemblyFormat = "$to $size `with` $value attr-dict";
}

#endif
