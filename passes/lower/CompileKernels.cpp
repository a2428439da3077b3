//===- CompileKernels.cpp - Code for the kernels of a plan ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs last: the plan is proven before the time is spent. What the plan says of a kernel's launches
// the target decided when the kernel was planned; a plan may have been read as text since.
//
// The plans of a mesh's ranks have most of their kernels in common. Each is compiled once, and all
// get the same code.
//
//===----------------------------------------------------------------------===//

#include "codegen/NamedKernel.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/lower/Schedule.h"
#include "llvm/ADT/StringSet.h"

namespace weir {
#define GEN_PASS_DEF_COMPILEKERNELS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

LogicalResult checkTarget(ModuleOp plan, const Target &target) {
  auto planned = plan->getAttrOfType<StringAttr>(plan::targetAttrName);
  if (planned && planned.getValue() == target.requirement())
    return success();
  auto error = plan.emitError() << "is planned for ";
  if (planned)
    error << planned.getValue();
  else
    error << "no target (plan.target)";
  error << ", but its kernels are to be compiled for " << target.requirement();
  return error;
}

/// Whether the kernel's code is what the plan launches.
LogicalResult checkSchedule(plan::KernelOp kernel, Target &target) {
  FailureOr<KernelPlan> planned = target.planKernel(kernel.meaning());
  if (failed(planned))
    return failure();
  Schedule code = scheduleOf(kernel.meaning(), *planned);
  auto check = [&](StringRef what, Attribute said, Attribute needed) -> LogicalResult {
    if (said == needed)
      return success();
    return kernel.emitOpError() << "has " << what << " " << said << ", but its code for "
                                << target.requirement() << " needs " << needed;
  };
  return success(
      succeeded(check("parts", kernel.getParts(), code.parts)) &&
      succeeded(check("operands", kernel.getTakes(), code.takes)) &&
      succeeded(check("scratch per thread", kernel.getThreadScratchAttr(), code.threadScratch)) &&
      succeeded(check("recomputed FLOPs", kernel.getRecomputedAttr(), code.recomputed)));
}

/// Gives a plan's kernels other names.
void rename(ModuleOp plan, const llvm::StringMap<StringAttr> &names) {
  for (auto kernel : plan.getOps<plan::KernelOp>())
    kernel.setSymNameAttr(names.at(kernel.getSymName()));
  plan.walk([&](plan::LaunchOp launch) {
    launch.setKernelAttr(FlatSymbolRefAttr::get(names.at(launch.getKernel())));
  });
}

/// The kernels of all plans, each once. What another plan has of the first has its name there.
SmallVector<plan::KernelOp> kernelsOf(ArrayRef<ModuleOp> plans) {
  SmallVector<plan::KernelOp> kernels;
  llvm::DenseMap<Operation *, StringAttr, KernelStructure> known;
  llvm::StringSet<> taken;
  for (ModuleOp plan : plans)
    for (auto symbol : plan.getOps<SymbolOpInterface>())
      if (plan == plans.front() || !isa<plan::KernelOp>(symbol))
        taken.insert(symbol.getName());
  auto fresh = [&, next = size_t(0)]() mutable {
    std::string name;
    do
      name = "kernel_" + std::to_string(next++);
    while (!taken.insert(name).second);
    return name;
  };
  for (ModuleOp plan : plans) {
    bool isFirst = plan == plans.front();
    llvm::StringMap<StringAttr> names;
    llvm::DenseSet<StringAttr> own;
    for (auto kernel : plan.getOps<plan::KernelOp>()) {
      StringAttr name = known.lookup(kernel.meaning());
      if (!name || !own.insert(name).second) { // A plan that is read as text may have two of one.
        name = isFirst ? kernel.getSymNameAttr() : StringAttr::get(plan.getContext(), fresh());
        known.try_emplace(kernel.meaning(), name);
        own.insert(name);
        kernels.push_back(kernel);
      }
      names[kernel.getSymName()] = name;
    }
    if (!isFirst)
      rename(plan, names);
  }
  return kernels;
}

struct CompileKernels : weir::impl::CompileKernelsBase<CompileKernels> {
  CompileKernels() = default;
  explicit CompileKernels(CompileKernelsOptions options) : CompileKernelsBase(options) {}
  CompileKernels(std::shared_ptr<Target> target, DumpKernels dump, TimingScope *time,
                 ArrayRef<ModuleOp> others)
      : made(std::move(target)), dump(std::move(dump)), time(time), others(others) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileKernelsBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    SmallVector<ModuleOp> plans = {getOperation()};
    llvm::append_range(plans, others);
    std::vector<NamedKernel> kernels;
    for (ModuleOp plan : plans)
      for (auto [i, kernel] : llvm::enumerate(plan.getOps<plan::KernelOp>()))
        if ((!i && failed(checkTarget(plan, *made))) || failed(checkSchedule(kernel, *made)))
          return signalPassFailure();
    for (plan::KernelOp kernel : kernelsOf(plans))
      kernels.push_back({kernel.meaning(), kernel.getSymName().str()});
    FailureOr<std::vector<char>> code =
        made->compile(kernels, dump, time ? time->nest("kernels") : TimingScope());
    if (failed(code))
      return signalPassFailure();
    if (!code->empty())
      for (ModuleOp plan : plans)
        plan::setCode(plan, made->codeFormat(), *code);
  }

  PassTarget made;
  DumpKernels dump;
  TimingScope *time = nullptr;
  SmallVector<ModuleOp> others;
};

} // namespace

std::unique_ptr<Pass> weir::createCompileKernels(std::shared_ptr<Target> target, DumpKernels dump,
                                                 TimingScope *time, ArrayRef<ModuleOp> others) {
  return std::make_unique<CompileKernels>(std::move(target), std::move(dump), time, others);
}
