//===- Verify.cpp - weir verify -------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/Verify.h"
#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/reference/Requirements.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Variable.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/ReportDiagnostics.h"
#include "tools/weir/WorkProgress.h"
#include "tools/weir/commands/VerifyData.h"
#include "tools/weir/options/PrecisionOptions.h"
#include "verify/Cost.h"
#include "verify/Verify.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <malloc.h>
#include <memory>

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

/// What is verified, one form after the other.
struct Work {
  const CompileOptions &options;
  VerifyModelOptions how;
};

/// Seconds, as a person says them.
std::string about(double seconds) {
  if (seconds < 1)
    return "about a second";
  bool minutes = seconds >= 90;
  auto count = static_cast<int64_t>(std::ceil(minutes ? seconds / 60 : seconds));
  return "about " + std::to_string(count) + (minutes ? " min" : " s");
}

/// Of both forms. Nothing where the model cannot be elaborated with these configs, of which nothing
/// is said.
std::optional<double> secondsWith(const CompileOptions &options,
                                  const std::map<std::string, std::string> &sets, bool full) {
  MLIRContext context;
  context.disableMultithreading();
  ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return success(); });
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult elaborated = elaborate(options.model, sets, sources, context, diagnostics);
  if (!elaborated.module)
    return std::nullopt;
  return 2 * verifyCost(*elaborated.module, full).total();
}

/// The config of which a quarter shortens the work most: "; --set batch=3 makes it about 20 s". ""
/// where none makes it half as long.
std::string whatShortens(const CompileOptions &options, ModuleOp module, double seconds,
                         bool full) {
  std::string best;
  double least = seconds / 2;
  for (NamedAttribute config : module->getAttrOfType<DictionaryAttr>(configsAttrName)) {
    std::string name = config.getName().str();
    int64_t value;
    if (cast<StringAttr>(config.getValue()).getValue().getAsInteger(10, value) || value < 2)
      continue;
    std::map<std::string, std::string> sets = options.sets;
    sets[name] = std::to_string(std::max<int64_t>(1, value / 4));
    std::optional<double> with = secondsWith(options, sets, full);
    if (!with || *with >= least)
      continue;
    least = *with;
    best = "; --set " + name + "=" + sets[name] + " makes it " + about(least);
  }
  return best;
}

/// What there is to do, before it is done.
std::string announcement(const Work &work, ModuleOp module, double seconds) {
  constexpr double worthSaying = 20;
  std::string text = work.options.model + ": " + about(seconds) + " of work";
  if (seconds > worthSaying)
    text += whatShortens(work.options, module, seconds, work.how.full);
  return text;
}

/// What verifyProgram is asked for.
VerifyOptions verifyOptionsFor(const Work &work, Strategy strategy, bool gradients,
                               WorkProgress &progress) {
  if (gradients) // outputs of a step's size are kept to its end
    strategy.memory.reset();
  VerifyOptions verify;
  verify.target = *work.options.target;
  verify.strategy = strategy;
  verify.device = work.how.device;
  verify.seed = work.how.seed;
  if (!work.how.data.empty())
    verify.inputs = [&work](func::FuncOp entry) {
      return rowsOfData(entry, work.how.data, work.how.seed);
    };
  verify.full = work.how.full;
  verify.progress = [&progress](const std::string &line) { progress.say("  " + line); };
  verify.worked = [&progress](double seconds) { progress.worked(seconds); };
  return verify;
}

/// Tells what was found.
Exit conclude(const Work &work, const VerifyReport &report, bool gradients,
              WorkProgress &progress) {
  const std::string &model = work.options.model;
  if (!report.unverifiable.empty()) {
    progress.say("error: " + model + ": " + report.unverifiable +
                 (work.how.data.empty() ? "\n  help: try other random inputs (--seed), or real "
                                          "data (--data INPUT=PATH)"
                                        : "\n  help: try other rows of the data (--seed)"));
    return Exit::numeric;
  }
  if (report.fault) {
    progress.say("error: " + model + ": " + report.fault->message +
                 "\n  this is a fault of Weir's, not of the model; --seed " +
                 std::to_string(work.how.seed) + " shows it again");
    return Exit::internal;
  }
  llvm::outs() << llvm::formatv(
      "verified: {0} passes, {1} gradients, {2} kernels, {3} results{4}\n", report.passes,
      report.gradients - report.unknownGradients, report.kernels, report.results,
      gradients ? " with gradients" : "");
  return Exit::ok;
}

/// Verifies the program as it is trained, or with every gradient as an output.
Exit verifyOnce(const Work &work, bool gradients, std::unique_ptr<WorkProgress> &progress) {
  const CompileOptions &options = work.options;
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  ReportDiagnostics reporter(context, options);
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateOptions elaboration;
  elaboration.gradients = gradients;
  elaboration.warnings = options.warnings;
  ElaborateResult elaborated =
      elaborate(options.model, options.sets, sources, context, diagnostics, elaboration);
  if (!gradients || diagnostics.hasErrors()) // the first time has printed the warnings
    reporter.print(diagnostics);
  if (!elaborated.module)
    return exitOf(elaborated);
  std::string unscaled;
  Strategy strategy = strategyFor(options);
  strategy.lossScale = lossScaleFor(strategy, *elaborated.module, unscaled);
  if (!strategy.lossScale) {
    llvm::errs() << "error: " << unscaled << "\n";
    return Exit::usage;
  }
  if (std::string problem = tooLarge(*elaborated.module); !problem.empty()) {
    llvm::errs() << "error: " << options.model << ": " << problem
                 << "\n  help: make the model smaller with --set: its batch, width or layers\n";
    return Exit::device;
  }
  if (!progress) {
    double seconds = 2 * verifyCost(*elaborated.module, work.how.full).total();
    progress = std::make_unique<WorkProgress>(seconds);
    progress->say(announcement(work, *elaborated.module, seconds));
  }
  progress->say(options.model +
                (gradients ? ", with every gradient as an output:" : ", as it is trained:"));
  FailureOr<VerifyReport> report = verifyProgram(
      *elaborated.module, verifyOptionsFor(work, std::move(strategy), gradients, *progress));
  return failed(report) ? reporter.exit() : conclude(work, *report, gradients, *progress);
}

} // namespace

Exit verifyModel(const CompileOptions &options, const VerifyModelOptions &how) {
  FatalErrors ends;
  const Strategy &strategy = options.strategy;
  std::unique_ptr<Target> target = makeTarget(*options.target);
  if (!target) {
    llvm::errs() << "error: --target " << *options.target << ": expected " << targetOptions()
                 << "\n";
    return Exit::usage;
  }
  if (const char *rounded = isLow(*strategy.tpReduceType)     ? "--tp-reduce-dtype"
                            : isLow(*strategy.gradReduceType) ? "--grad-reduce-dtype"
                                                              : nullptr;
      rounded && (*strategy.deterministic || strategy.hasMesh())) {
    llvm::errs()
        << "error: " << rounded
        << " rounds the partial sums of each rank, but weir verify compares with one device, "
           "which rounds only the sum: remove "
        << rounded << " or " << (*strategy.deterministic ? "--deterministic" : "--mesh") << "\n";
    return Exit::usage;
  }
  if (std::string problem = wrongPrecision(strategy, *target); !problem.empty()) {
    llvm::errs() << "error: " << problem << "\n";
    return Exit::usage;
  }
  // Tensors come and go by the thousand: pages that were given back would be cleared each time.
  mallopt(M_MMAP_THRESHOLD, 32 << 20); // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  Work work{options, how};
  std::unique_ptr<WorkProgress> progress;
  Exit exit = verifyOnce(work, false, progress);
  return written(exit == Exit::ok ? verifyOnce(work, true, progress) : exit);
}

} // namespace weir
