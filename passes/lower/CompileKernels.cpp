//===- CompileKernels.cpp - Code for the kernels of a plan ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs last: the plan is proven before the time is spent.
//
//===----------------------------------------------------------------------===//

#include "passes/PassTarget.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_COMPILEKERNELS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct CompileKernels : weir::impl::CompileKernelsBase<CompileKernels> {
  CompileKernels() = default;
  explicit CompileKernels(CompileKernelsOptions options) : CompileKernelsBase(options) {}
  CompileKernels(std::shared_ptr<Target> target, std::function<void(StringRef, ModuleOp)> dump,
                 TimingScope *time)
      : made(std::move(target)), dump(std::move(dump)), time(time) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileKernelsBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    std::vector<NamedKernel> kernels;
    for (auto kernel : getOperation().getOps<plan::KernelOp>())
      kernels.push_back({kernel.meaning(), kernel.getSymName().str()});
    DumpKernels see;
    if (dump)
      see = dump;
    FailureOr<std::vector<char>> code =
        made->compile(kernels, see, time ? time->nest("kernels") : TimingScope());
    if (failed(code))
      return signalPassFailure();
    if (!code->empty())
      plan::setCode(getOperation(), *code);
  }

  PassTarget made;
  std::function<void(StringRef, ModuleOp)> dump;
  TimingScope *time = nullptr;
};

} // namespace

std::unique_ptr<Pass>
weir::createCompileKernels(std::shared_ptr<Target> target,
                           std::function<void(StringRef phase, ModuleOp)> dump, TimingScope *time) {
  return std::make_unique<CompileKernels>(std::move(target), std::move(dump), time);
}
