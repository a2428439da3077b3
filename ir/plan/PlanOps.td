//===- PlanOps.td - The plan dialect ------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime executes; the artifact (artifact/Artifact.fbs) is its one-to-one serialization. A module in this
// form has plan.variable, plan.kernel, plan.blob and plan.entry ops, the module attributes of ir/weir/Program.h,
// and plan.target (string),
// plan.persistent, plan.arena, plan.pinned, plan.host (0 where absent) and plan.thread_scratch (bytes). Sizes and offsets are bytes. Actions are numbered in program
// order from 0, a loop before its body.
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_OPS_TD
#define PLAN_OPS_TD

include "ir/plan/PlanAction.td"
include "ir/plan/PlanBase.td"
include "ir/weir/Sharding.td"
include "ir/weir/kernel/Kernel.td"
include "ir/weir/program/Variable.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

// An op that does something: in order, seen by everything after it.
class Plan_ActionOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>, Plan_Action])> {
  code declareAction = [{
    ::llvm::SmallVector<::weir::spec::Footprint> footprints(::mlir::SymbolTableCollection &symbols);
    ::weir::spec::Cost cost(::mlir::SymbolTableCollection &symbols);
    std::string describe(::mlir::SymbolTableCollection &symbols);
    ::weir::plan::Engine engine();
  }];
  let extraClassDeclaration = declareAction;
}

def Plan_Queue : DefaultValuedAttr<I64Attr, "0">;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

def Plan_VariableOp : Plan_Op<"variable", [Symbol]> {
  let summary = "a tensor that lasts, in the persistent segment or in the host's memory";
  let description = "C1: it is a tensor of the weir dialect.  C2: its offset is a multiple of 64.";
  let arguments = (ins SymbolNameAttr:$sym_name, Weir_Role:$role, TypeAttr:$type, OptionalAttr<I64Attr>:$offset,
                       UnitAttr:$host, OptionalAttr<Weir_Sharding>:$sharding);
  let assemblyFormat = "$role $sym_name (`on` `host` $host^)? (`at` $offset^)? attr-dict `:` $type";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The memory that it lies in.
    ::weir::plan::Space space() { return getHost() ? Space::host : Space::persistent; }
  }];
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a compiled kernel; the region is its meaning";
  let description = [{
    A launch runs one of `parts`; all of them, in order, compute what the weir.kernel in the region says. It takes its
    inputs, its results, then workspaces, whose contents pass from part to part.
    C1: the region holds one weir.kernel.  C2: there is a part, and each has a task.  C3: the first operands are the meaning's
    inputs, read, and its results, written, of their sizes; workspaces are written.  C4: scratch and cost are not negative.
    C5: of `flops` at most all are `recomputed`: of elements that the code computes a second time or more.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Weir_KernelShape:$shape,
                       TypedArrayAttrBase<Plan_Part, "launches">:$parts,
                       TypedArrayAttrBase<Plan_Operand, "operands">:$takes,
                       I64Attr:$thread_scratch, I64Attr:$flops, I64Attr:$bytes,
                       DefaultValuedAttr<I64Attr, "0">:$recomputed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$shape $sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weir::plan::PartAttr getPart(size_t part) { return ::llvm::cast<::weir::plan::PartAttr>(getParts()[part]); }
    ::weir::plan::OperandAttr getTaken(size_t i) { return ::llvm::cast<::weir::plan::OperandAttr>(getTakes()[i]); }
    /// The weir.kernel in the region.
    ::weir::KernelOp meaning();
  }];
}

def Plan_BlobOp : Plan_Op<"blob", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "the code of all kernels, as the target's devices load it";
  let description = "C1: it is a resource of as many bytes, at least one, as its type says.  C2: a module has one.  C3: it stands in the module itself.";
  let arguments = (ins ElementsAttr:$bytes, DefaultValuedAttr<Plan_CodeFormat, "CodeFormat::elf">:$format);
  let assemblyFormat = "$bytes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = "::llvm::ArrayRef<char> code();";
}

def Plan_EntryOp : Plan_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "a program: its ports and its actions in order";
  let description = [{
    The host writes the inputs, then queue 0 begins; other queues take part by waiting for its events. The entry ends, and the
    host may read the outputs, when queue 0 is done.
    C1: the block takes no arguments.  C2: only ops of this dialect stand in it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// All actions, at their numbers.
    ::llvm::SmallVector<::weir::plan::Action> actions();
  }];
}

def Plan_PortOp : Plan_Op<"port", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what the host writes before the entry, or reads after it";
  let description = [{
    `sharding` says how the ranks of the mesh have the whole tensor, of which this is one rank's.
    C1: it is a tensor of the weir dialect.  C2: a scalar, sum or count is one number.  C3: the weight is finite.  C4: only an
    input of integers has a limit, and it is not negative.  C5: its buffer does not move with a loop.  C6: its term is a
    number of 32 bits.
  }];
  let arguments = (ins Plan_PortKind:$kind, StrAttr:$name, TypeAttr:$type, Plan_Buffer:$buffer,
                       DefaultValuedAttr<I64Attr, "0">:$term, DefaultValuedAttr<F64Attr, "1.0">:$weight,
                       DefaultValuedAttr<I64Attr, "0">:$limit, OptionalAttr<StrAttr>:$limit_config,
                       OptionalAttr<Weir_Sharding>:$sharding);
  let assemblyFormat = "$kind $name $buffer attr-dict `:` $type `in` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

def Plan_AllocOp : Plan_Op<"alloc", [Pure]> {
  let summary = "a range of a memory, alive from action `first` to action `last`";
  let description = [{
    C1: its size is positive.  C2: its offset is a multiple of 64.  C3: it has an offset, a first and a last action, or none of
    them; these are numbers of 32 bits, and the first is not after the last.  C4: it lies in scratch, pinned memory or the host's.
  }];
  let arguments = (ins I64Attr:$size, StrAttr:$label, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$first,
                       OptionalAttr<I64Attr>:$last);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$size $label (`at` $offset^)? (`from` $first^)? (`to` $last^)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int64_t":$size, "::llvm::StringRef":$label,
                                 CArg<"::weir::plan::Space", "::weir::plan::Space::scratch">:$space)>];
  let hasVerifier = 1;
}

def Plan_UseOp : Plan_Op<"use", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a variable's memory";
  let description = "C1: the variable exists.  C2: the buffer is of the memory that the variable lies in.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::weir::plan::VariableOp":$variable)>];
}

def Plan_PartOp : Plan_Op<"part", [Pure, AllTypesMatch<["buffer", "result"]>]> {
  let summary = "a buffer from a place on that may move with the loops around its user";
  let description = [{
    It begins at `offset` + the sum of stride * (index mod modulus) over `indices`; a modulus of 0 is none. Strides may be
    negative.
    C1: there is a stride and a modulus for each index, each modulus a number of 32 bits.  C2: each index is a loop's.
  }];
  let arguments = (ins Plan_Buffer:$buffer, I64Attr:$offset, Variadic<Plan_Index>:$indices,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$moduli);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$buffer `at` $offset (`moving` `with` $indices^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_ActionOp<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs one part of a kernel";
  let description = "C1: the kernel exists.  C2: it has that part.  C3: there is a buffer for each of its operands.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$part, Variadic<Plan_Buffer>:$operands, Plan_Queue:$queue);
  let assemblyFormat = "$kernel $part `(` ($operands^ `:` type($operands))? `)` attr-dict";
}

def Plan_CallOp : Plan_ActionOp<"call"> {
  let summary = "runs a library's routine";
  let description = "C1: there is a buffer for each operand of the spec.";
  let arguments = (ins Plan_Spec:$spec, Variadic<Plan_Buffer>:$operands, Plan_Queue:$queue);
  let assemblyFormat = "$spec `(` ($operands^ `:` type($operands))? `)` attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = declareAction # [{
    const ::weir::spec::Call &getCall() { return getSpec().getCall(); }
  }];
}

def Plan_CopyOp : Plan_ActionOp<"copy"> {
  let summary = "copies bytes";
  let description = "C1: there are some.";
  let arguments = (ins Plan_Buffer:$from, Plan_Buffer:$to, I64Attr:$size, Plan_Queue:$queue);
  let assemblyFormat = "$from `to` $to $size attr-dict `:` type($from) `to` type($to)";
  let hasVerifier = 1;
}

def Plan_CollectiveOp : Plan_ActionOp<"collective"> {
  let summary = "what the members along an axis of the mesh have, or have for this rank, one after the other";
  let description = [{
    As weir.all_gather, weir.all_to_all and weir.collective_permute: `bytes` are those of each member, `own` this rank's, all of them elements of that
    type. It reads `own` bytes and writes all, or reads all and writes `own` from each, or reads `own` and writes as many. `number` is what it has on all ranks (weir-number-collectives), from
    1 on; 0: it has none.
    C1: `bytes` are positive, and `own` is one of them, of a shift all of them.  C2: the type is one of the weir dialect, and `bytes` are whole elements.
  }];
  let arguments = (ins Plan_CollectiveKind:$kind, StrAttr:$axis, Plan_Buffer:$from, Plan_Buffer:$to, DenseI64ArrayAttr:$bytes,
                       I64Attr:$own, TypeAttr:$element, DefaultValuedAttr<I64Attr, "0">:$number, Plan_Queue:$queue);
  let assemblyFormat = [{$kind `over` $axis $from `to` $to `bytes` $bytes `own` $own `of` $element attr-dict
      `:` type($from) `to` type($to)}];
  let hasVerifier = 1;
}

def Plan_LoopOp : Plan_ActionOp<"loop", [SingleBlock, NoTerminator]> {
  let summary = "the body, `count` times; the block's argument is the round, which the buffer holds as an i32";
  let description = "C1: it has a round, and at most 65536.  C2: the block takes one index.  C3: only ops of this dialect stand in it.";
  let arguments = (ins I64Attr:$count, Plan_Buffer:$round, Plan_Queue:$queue);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count `round` $round attr-dict-with-keyword `:` type($round) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = declareAction # [{
    ::mlir::Value index() { return getBody().front().getArgument(0); }
  }];
}

def Plan_EventOp : Plan_Op<"event", [Pure, HasParent<"::weir::plan::EntryOp">]> {
  let summary = "an event of the entry; it has not happened when the entry begins";
  let description = "C1: it stands in the entry itself, in no loop.";
  let results = (outs Plan_Event:$result);
  let assemblyFormat = "attr-dict";
}

def Plan_RecordOp : Plan_ActionOp<"record"> {
  let summary = "the event happens when all that stands before on this queue is done";
  let description = "C1: the event is what plan.event gives.";
  let arguments = (ins Plan_Event:$event, Plan_Queue:$queue);
  let assemblyFormat = "$event attr-dict";
  let hasVerifier = 1;
}

def Plan_WaitOp : Plan_ActionOp<"wait"> {
  let summary = "what stands after on this queue begins when the event's last record before has happened";
  let description = [{
    In a loop that may be the record of the round before, and there is nothing to wait for in the first.
    C1: the event is what plan.event gives.
  }];
  let arguments = (ins Plan_Event:$event, Plan_Queue:$queue);
  let assemblyFormat = "$event attr-dict";
  let hasVerifier = 1;
}

#endif
