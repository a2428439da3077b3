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
//===----------------------------------------------------------------------===//

#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/lower/Schedule.h"

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
      succeeded(check("scratch per thread", kernel.getThreadScratchAttr(), code.threadScratch)));
}

struct CompileKernels : weir::impl::CompileKernelsBase<CompileKernels> {
  CompileKernels() = default;
  explicit CompileKernels(CompileKernelsOptions options) : CompileKernelsBase(options) {}
  CompileKernels(std::shared_ptr<Target> target, DumpKernels dump, TimingScope *time)
      : made(std::move(target)), dump(std::move(dump)), time(time) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileKernelsBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    std::vector<NamedKernel> kernels;
    for (auto kernel : getOperation().getOps<plan::KernelOp>()) {
      if (kernels.empty() && failed(checkTarget(getOperation(), *made)))
        return signalPassFailure();
      if (failed(checkSchedule(kernel, *made)))
        return signalPassFailure();
      kernels.push_back({kernel.meaning(), kernel.getSymName().str()});
    }
    FailureOr<std::vector<char>> code =
        made->compile(kernels, dump, time ? time->nest("kernels") : TimingScope());
    if (failed(code))
      return signalPassFailure();
    if (!code->empty())
      plan::setCode(getOperation(), made->codeFormat(), *code);
  }

  PassTarget made;
  DumpKernels dump;
  TimingScope *time = nullptr;
};

} // namespace

std::unique_ptr<Pass> weir::createCompileKernels(std::shared_ptr<Target> target, DumpKernels dump,
                                                 TimingScope *time) {
  return std::make_unique<CompileKernels>(std::move(target), std::move(dump), time);
}
