//===- KernelFacts.cpp - What the rules of buffers ask about a kernel -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/buffers/KernelFacts.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/memory/EntryLifetimes.h"

using namespace mlir;

namespace weir::buffers {

/// The bytes of scratch that the actions of a call allocate, and what each thread has to itself.
static FailureOr<std::pair<int64_t, int64_t>> scratchOfCall(KernelOp kernel, Target &target) {
  OpBuilder builder(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto buffer = [&](Type type) -> Value {
    return plan::AllocOp::create(builder, kernel.getLoc(), storageBytes(type), "operand");
  };
  CallBuffers buffers;
  for (Type type : kernel->getOperandTypes())
    buffers.inputs.push_back(buffer(type));
  buffers.result = buffer(kernel.getResult(0).getType());
  int64_t before = 0, all = 0;
  module->walk([&](plan::AllocOp op) { before += alignedBytes(op.getSize()); });
  FailureOr<int64_t> ofThread = target.planCall(builder, kernel, buffers);
  if (failed(ofThread))
    return failure();
  module->walk([&](plan::AllocOp op) { all += alignedBytes(op.getSize()); });
  return std::pair(all - before, *ofThread);
}

FailureOr<KernelFacts::Facts> KernelFacts::ask(KernelOp kernel) {
  Facts facts;
  facts.isCall = target.isCall(kernel);
  if (facts.isCall) {
    FailureOr<std::pair<int64_t, int64_t>> scratch = scratchOfCall(kernel, target);
    if (failed(scratch))
      return failure();
    std::tie(facts.workspace, facts.threadScratch) = *scratch;
  } else {
    FailureOr<KernelPlan> plan = target.planKernel(kernel);
    if (failed(plan))
      return failure();
    facts.inPlace = plan->inPlace;
    facts.workspace = plan->workspace;
    facts.threadScratch = plan->threadScratch;
  }
  double flops = 0, bytes = 0;
  kernel.walk([&](Costed op) { flops += op.cost().flops; });
  for (Type type : llvm::concat<const Type>(kernel->getOperandTypes(), kernel->getResultTypes()))
    bytes += storageBytes(type);
  facts.seconds = target.secondsOf(flops, bytes);
  return facts;
}

FailureOr<const KernelFacts::Facts *> KernelFacts::of(KernelOp kernel) {
  if (auto found = known.find(kernel); found != known.end())
    return found->second.get();
  FailureOr<Facts> facts = ask(kernel);
  if (failed(facts))
    return failure();
  mostScratch = std::max(mostScratch, facts->threadScratch);
  calls |= facts->isCall;
  return known.try_emplace(kernel, std::make_unique<Facts>(std::move(*facts))).first->second.get();
}

} // namespace weir::buffers
