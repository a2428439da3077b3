//===- PlanDialect.h - The plan dialect -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime executes, as IR; PlanOps.td describes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_PLAN_PLANDIALECT_H
#define WEIR_IR_PLAN_PLANDIALECT_H

#include "ir/weir/WeirDialect.h"
#include "support/program/Limits.h"
#include "support/spec/Call.h"
#include "support/spec/Exchange.h"
#include "llvm/ADT/Hashing.h"

namespace weir::spec {
/// For the attribute that holds one.
llvm::hash_code hash_value(const Call &call);
} // namespace weir::spec

#include "ir/plan/PlanDialect.h.inc"
#include "ir/plan/PlanEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttributes.h.inc"

namespace weir::plan {
class Action;
// Whose definitions are in PlanOps.h: include it where you use an op.
class AllocOp;
class CollectiveOp;
class KernelOp;
class LaunchOp;
class LoopOp;
class VariableOp;
/// The constraints of PlanAction.td.
mlir::LogicalResult verifyAction(mlir::Operation *op);
} // namespace weir::plan

#include "ir/plan/PlanAction.h.inc"

namespace weir::plan {

/// Of a planned module: what it demands of a device, and bytes, those of scratch per thread.
inline constexpr llvm::StringLiteral targetAttrName = "plan.target",
                                     persistentAttrName = "plan.persistent",
                                     arenaAttrName = "plan.arena", pinnedAttrName = "plan.pinned",
                                     hostAttrName = "plan.host",
                                     threadScratchAttrName = "plan.thread_scratch";

/// The memory behind a buffer value, and where in it the value begins.
struct Place {
  mlir::Operation *memory; ///< a plan.alloc or plan.use
  int64_t offset = 0;
  /// It moves by stride * (index mod modulus); a modulus of 0 is none.
  struct Move {
    mlir::Value index; ///< of a loop
    int64_t stride, modulus;
  };
  llvm::SmallVector<Move, 1> moves;
};

/// Of a buffer of a module that has been verified.
Place placeOf(mlir::Value buffer);

/// Where a buffer or a variable of a placed plan lies: bytes from the arena's start, behind whose
/// end are pinned memory and then the host's.
int64_t addressOf(mlir::ModuleOp plan, AllocOp buffer);
int64_t addressOf(mlir::ModuleOp plan, VariableOp variable);

/// Bytes of the arena, the pinned memory and the host's of a placed plan.
int64_t memoryOf(mlir::ModuleOp plan);

/// The loop whose round an index is.
LoopOp loopOf(mlir::Value index);

/// How many loops are around that one.
uint32_t depthOf(mlir::Value index);

/// What the members of a collective give each other, in bytes.
spec::Exchange exchangeOf(CollectiveOp op);

/// The kernel a launch runs; null where there is none.
KernelOp kernelOf(LaunchOp launch, mlir::SymbolTableCollection &symbols);

/// The kernel's operands as launches touch them.
llvm::SmallVector<spec::Footprint> footprintsOf(KernelOp kernel);

/// Adds the code of a plan's kernels, which has none yet.
void setCode(mlir::ModuleOp plan, CodeFormat format, llvm::ArrayRef<char> code);

/// The code of a plan's kernels; empty where there is none (yet).
llvm::ArrayRef<char> codeOf(mlir::ModuleOp plan);

/// What it is; elf where there is none.
CodeFormat codeFormatOf(mlir::ModuleOp plan);

/// Where the variables, then every entry's scratch, begin: multiples of this many bytes.
constexpr int64_t alignment = limits::alignment;

} // namespace weir::plan

#endif
