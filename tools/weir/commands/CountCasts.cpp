//===- CountCasts.cpp - What rounding costs a step ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/CountCasts.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Locations.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/inspect/ReadArtifactPlan.h"

using namespace mlir;

namespace weir {
namespace {

bool isFloatCast(Operation &op) {
  auto cast = dyn_cast<CastOp>(op);
  auto isFloat = [](Value value) { return isa<FloatType>(tensorType(value).getElementType()); };
  return cast && isFloat(cast.getInput()) && isFloat(cast.getResult());
}

class Counter {
public:
  explicit Counter(ModuleOp plan) : plan(plan) {}

  CastCounts run() {
    for (auto entry : plan.getOps<plan::EntryOp>())
      if (entry.getSymName() == "step")
        walk(entry.getBody().front(), 1);
    return counts;
  }

private:
  void walk(Block &block, uint64_t times) {
    for (auto action : block.getOps<plan::Action>()) {
      if (auto loop = dyn_cast<plan::LoopOp>(*action)) {
        walk(loop.getBody().front(), times * loop.getCount());
        continue;
      }
      if (auto launch = dyn_cast<plan::LaunchOp>(*action); launch && launch.getPart() == 0)
        count(launch, times);
      for (auto [i, touched] : llvm::enumerate(action.footprints(symbols)))
        if (touched.mode != spec::Mode::read)
          writers[memoryOf(action->getOperand(i))] = action;
    }
  }

  static Operation *memoryOf(Value buffer) { return plan::placeOf(buffer).memory; }

  void count(plan::LaunchOp launch, uint64_t times) {
    KernelOp meaning = plan::kernelOf(launch, symbols).meaning();
    SmallVector<CastOp> casts;
    bool alone = true;
    for (Operation &op : meaning.getBody().front().without_terminator()) {
      if (isFloatCast(op))
        casts.push_back(cast<CastOp>(op));
      else
        alone &= isa<View, ConstantOp>(op);
    }
    for (CastOp cast : casts)
      if (auto read = sourceOf(cast, launch))
        if (auto use = dyn_cast<plan::UseOp>(read); use && cast.narrows() && isParameter(use))
          counts.parameters[use.getVariable().str()] += times;
    if (casts.empty())
      return;
    if (alone)
      classOf(casts.front(), launch) += times;
    else
      counts.beside += times * casts.size();
  }

  /// The memory that a kernel's cast reads; null where the kernel computes what is cast.
  Operation *sourceOf(CastOp cast, plan::LaunchOp launch) {
    Value value = cast.getInput();
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<View, CastOp>(op))
        return nullptr;
      value = op->getOperand(0);
    }
    return memoryOf(launch.getOperands()[llvm::cast<BlockArgument>(value).getArgNumber()]);
  }

  bool isParameter(plan::UseOp use) {
    auto variable = symbols.lookupNearestSymbolFrom<plan::VariableOp>(plan, use.getVariableAttr());
    return variable && variable.getRole() == Role::parameter;
  }

  /// Where a kernel of casts alone counts.
  uint64_t &classOf(CastOp cast, plan::LaunchOp launch) {
    if (!cast.narrows())
      return counts.forCalls;
    Operation *source = sourceOf(cast, launch);
    auto writer = writers.find(source);
    if (!source || isa<plan::UseOp>(source) || writer == writers.end())
      return counts.ofVariables;
    if (isa<plan::CallOp>(writer->second))
      return counts.ofCalls;
    return counts.spareAt[describe(launch.getLoc())];
  }

  ModuleOp plan;
  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, Operation *> writers; ///< of memory, so far
  CastCounts counts;
};

} // namespace

CastCounts countCasts(const std::vector<std::byte> &artifact) {
  FatalErrors ends;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  return Counter(*readArtifactPlan(artifact, context)).run();
}

} // namespace weir
