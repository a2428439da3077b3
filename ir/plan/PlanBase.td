//===- PlanBase.td - The plan dialect's types and attributes -*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_BASE_TD
#define PLAN_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::weir::plan";
  let summary = "What the runtime executes: buffers, launches, library calls, queues and events.";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::weir::WeirDialect"];
}

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::weir::plan";
}

def Plan_Space : Plan_Enum<"Space", "a device's memories", [
    I32EnumAttrCase<"persistent", 0>,   // variables: one layout for all entries
    I32EnumAttrCase<"constant", 1>,     // never written
    I32EnumAttrCase<"scratch", 2>,      // an entry's buffers
    I32EnumAttrCase<"pinned", 3>,       // the host's side of transfers
    I32EnumAttrCase<"host", 4>]>;       // what there is no room for on the device: variables, then what an entry puts there

def Plan_PortKind : Plan_Enum<"PortKind", "what the host gives an entry or takes from it", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"scalar", 1>, I32EnumAttrCase<"sum", 2>, I32EnumAttrCase<"count", 3>,
    I32EnumAttrCase<"tensor", 4>]>;

def Plan_Engine : Plan_Enum<"Engine", "what of a device carries out an action", [
    I32EnumAttrCase<"compute", 0>,      // kernels and library calls
    I32EnumAttrCase<"copy", 1>,         // transfers
    I32EnumAttrCase<"control", 2>,      // loops and events
    I32EnumAttrCase<"link", 3>]>;       // collectives

def Plan_CollectiveKind : Plan_Enum<"CollectiveKind", "what ranks tell each other", [
    I32EnumAttrCase<"all_gather", 0>,   // what each has, for all
    I32EnumAttrCase<"all_to_all", 1>,   // what each has for each
    I32EnumAttrCase<"shift", 2>]>;      // what the one before has

def Plan_Mode : Plan_Enum<"Mode", "what an action does with an operand", [
    I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>, I32EnumAttrCase<"update", 2>]>;

def Plan_CodeFormat : Plan_Enum<"CodeFormat", "what the code of a plan's kernels is", [
    I32EnumAttrCase<"elf", 0>,          // a shared object without undefined symbols
    I32EnumAttrCase<"cuda", 1>]>;       // a CudaCode (artifact/CudaCode.fbs)

class Plan_Type<string name, string text> : TypeDef<Plan_Dialect, name> {
  let mnemonic = text;
}
def Plan_Buffer : Plan_Type<"Buffer", "buffer"> {
  let summary = "a range of one of the device's memories";
  let parameters = (ins EnumParameter<Plan_Space>:$space);
  let assemblyFormat = "`<` $space `>`";
}
def Plan_Index : Plan_Type<"Index", "index"> {
  let summary = "the round of a loop";
}
def Plan_Event : Plan_Type<"Event", "event"> {
  let summary = "a point of a queue that other queues can wait for";
}

class Plan_Attr<string name, string text> : AttrDef<Plan_Dialect, name> {
  let mnemonic = text;
}
def Plan_Part : Plan_Attr<"Part", "part"> {
  let summary = "one launch of a kernel: the function is the kernel's symbol and `suffix`, run on `tasks` tasks";
  let description = "Each task is worked on by `threads` together, which share that many bytes of memory.";
  let parameters = (ins StringRefParameter<>:$suffix, "int64_t":$tasks, DefaultValuedParameter<"int64_t", "1">:$threads,
                        DefaultValuedParameter<"int64_t", "0">:$shared);
  let assemblyFormat = "`<` $suffix `:` $tasks (`x` $threads^)? (`shared` $shared^)? `>`";
}
def Plan_Operand : Plan_Attr<"Operand", "operand"> {
  let summary = "bytes that a kernel touches from an operand's start";
  let parameters = (ins EnumParameter<Plan_Mode>:$mode, "int64_t":$bytes);
  let assemblyFormat = "`<` $mode $bytes `>`";
}
def Plan_Spec : Plan_Attr<"Spec", "spec"> {
  let summary = "what a library call does: a struct of support/spec, its fields by name where they are not what they are by default";
  let description = "C1: its check() finds nothing wrong.";
  let parameters = (ins AttrParameter<"::weir::spec::Call", "the call", "const ::weir::spec::Call &">:$call);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif
