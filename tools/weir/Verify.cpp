//===- Verify.cpp - weir verify -------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Verify.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/reference/Requirements.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/ReportDiagnostics.h"
#include "verify/Verify.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {
namespace {

/// Why the interpreter cannot run a program here, or "".
std::string tooLarge(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<Type> held(function.getArgumentTypes());
    for (auto variable : module.getOps<VariableOp>())
      held.push_back(variable.getType());
    if (std::string problem = tooLargeToInterpret(function, held); !problem.empty())
      return ("@" + function.getSymName() + " " + problem).str();
  }
  return "";
}

Exit verifyOnce(const CompileOptions &options, const Target &target, unsigned seed,
                bool gradients) {
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  ReportDiagnostics reporter(context, options);
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateOptions how;
  how.gradients = gradients;
  how.warnings = options.warnings;
  ElaborateResult elaborated =
      elaborate(options.model, options.sets, sources, context, diagnostics, how);
  if (!gradients || diagnostics.hasErrors()) // what there is to warn of was said the first time
    reporter.print(diagnostics);
  if (!elaborated.module)
    return exitOf(elaborated);
  if (std::string problem = tooLarge(*elaborated.module); !problem.empty()) {
    llvm::errs() << "error: " << options.model << ": " << problem
                 << "\n  help: --set shrinks a model: its batch, its width, its layers\n";
    return Exit::device;
  }

  llvm::errs() << options.model
               << (gradients ? ", with every gradient as an output:\n" : ", as it is trained:\n");
  VerifyOptions verify;
  verify.target = target;
  verify.seed = seed;
  verify.progress = [](const std::string &line) { llvm::errs() << "  " << line << "\n"; };
  FailureOr<VerifyReport> report = verifyProgram(*elaborated.module, verify);
  if (failed(report))
    return reporter.exit();
  if (!report->notFinite.empty()) {
    llvm::errs() << "error: " << options.model << ": " << report->notFinite
                 << "\n  help: --seed draws others\n";
    return Exit::numeric;
  }
  if (report->fault) {
    llvm::errs() << "error: " << options.model << ": " << report->fault->message
                 << "\n  this is a fault of Weir's, not of the model; --seed " << seed
                 << " shows it again\n";
    return Exit::internal;
  }
  llvm::outs() << llvm::formatv(
      "verified: {0} passes, {1} gradients, {2} kernels, {3} results{4}\n", report->passes,
      report->gradients, report->kernels, report->results, gradients ? " with gradients" : "");
  return Exit::ok;
}

} // namespace

Exit verifyModel(const CompileOptions &options, unsigned seed) {
  FatalErrors ends;
  std::optional<Target> target = Target::parse(options.target);
  if (!target) {
    llvm::errs() << "error: --target " << options.target
                 << ": expected cpu:x86-64-v3 or cpu:x86-64-v4, or cpu on a machine with at least "
                    "x86-64-v3\n";
    return Exit::usage;
  }
  Exit exit = verifyOnce(options, *target, seed, false);
  return exit == Exit::ok ? verifyOnce(options, *target, seed, true) : exit;
}

} // namespace weir
