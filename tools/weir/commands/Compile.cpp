//===- Compile.cpp - From a model file to an artifact's bytes -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// model file -> weir IR (frontend) -> the passes of passes/Pipeline.cpp -> artifact. Every step of
// that list can be stopped after.
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/Compile.h"
#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/Digest.h"
#include "ir/weir/Names.h"
#include "ir/weir/requests/Recompute.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/memory/Reserve.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/ReportDiagnostics.h"
#include "tools/weir/commands/CompileReport.h"
#include "tools/weir/commands/DumpIr.h"
#include "tools/weir/options/PrecisionOptions.h"
#include "tools/weir/planning/FitMemory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {
namespace {

constexpr llvm::StringLiteral elaborated = "elaborate";

Exit usage(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return Exit::usage;
}

std::vector<std::string> passGroupNames() {
  std::vector<std::string> names = {elaborated.str()};
  for (const PassGroup &group : passGroups())
    names.push_back(group.name.str());
  return names;
}

/// A message if the option names no pass group.
std::string unknownPassGroup(const std::string &name) {
  std::vector<std::string> names = passGroupNames();
  if (name.empty() || llvm::is_contained(names, name))
    return "";
  return "--stop-after " + name + ": unknown pass group" + didYouMean(name, names) +
         "; expected one of " + llvm::join(names, ", ");
}

/// The bytes that a run of a plan takes.
int64_t takenBy(ModuleOp plan, const PipelineOptions &options) {
  return plan->getAttrOfType<IntegerAttr>(plan::arenaAttrName).getInt() +
         reserveOf(*options.target, options.strategy.threads, plan).bytes();
}

/// One compile. Diagnostics of the passes go through `reporter` as long as it lives.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options)
      : options(options), dump(options.dumpIr), report(options.report), reporter(context, options) {
    // Dumps are one sequence of files.
    context.disableMultithreading(dump.enabled());
    timing.setEnabled(options.timePasses);
    timing.setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
    total = timing.getRootScope();
  }

  /// Makes what the options ask for. Throws Failure(Exit::storage).
  void prepare() { dump.prepare(); }
  Exit elaborate();
  /// Elaborates where the process ends after it: to take a large model's ops apart would be a tenth
  /// of the time, for nothing.
  Exit elaborateOnly() {
    Exit exit = elaborate();
    (void)module.release();
    return exit;
  }
  Exit compile(std::shared_ptr<Target> target, std::vector<std::byte> &output);
  /// What is elaborated, for the one mesh of `options`.
  Exit compile(const CompileOptions &options, std::shared_ptr<Target> target,
               std::vector<std::byte> &output);
  /// Throws Failure(Exit::storage) where a file of --dump-ir or --report could not be written.
  void requireWritten() const {
    dump.requireWritten();
    report.write();
  }

private:
  void printTo(std::vector<std::byte> &output);
  /// What --dump-ir and --report see of the kernels; null where neither is asked for.
  DumpKernels kernelDump();

  const CompileOptions &options;
  DefaultTimingManager timing; ///< prints when all that is timed is gone
  TimingScope total;
  SourceManager sources;
  MLIRContext context;
  DumpIr dump;
  CompileReport report;
  ReportDiagnostics reporter;
  OwningOpRef<ModuleOp> module;
};

Exit Compilation::elaborate() {
  TimingScope time = total.nest("elaborate");
  Diagnostics diagnostics;
  ElaborateResult result = weir::elaborate(options.model, options.sets, sources, context,
                                           diagnostics, {options.gradients, options.warnings});
  reporter.print(diagnostics);
  module = std::move(result.module);
  return module ? Exit::ok : exitOf(result);
}

/// Fills `output` with the module's text.
DumpKernels Compilation::kernelDump() {
  if (!dump.enabled() && options.report.empty())
    return nullptr;
  return [this](llvm::StringRef phase, ModuleOp kernels, llvm::StringRef text) {
    report.addKernels(phase, kernels);
    if (kernels)
      dump.write(("kernels-" + phase).str(), kernels);
    else
      dump.writeText(("kernels-" + phase).str(), text.str());
  };
}

void Compilation::printTo(std::vector<std::byte> &output) {
  std::string text = printed(*module);
  auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  output.assign(bytes, bytes + text.size());
}

/// What is offloaded lies in this machine's memory where it is no file.
FitMemory::Words wordsOf(const CompileOptions &options, const Strategy &strategy) {
  FitMemory::Words words{.hasFolder = !options.offloadFolder.empty(),
                         .ranks = strategy.mesh.ranks()};
  if (options.memoryIsHere && !options.alsoRuns)
    words.budget = "--memory " + std::to_string(*strategy.memory) + " ";
  return words;
}

Exit Compilation::compile(std::shared_ptr<Target> target, std::vector<std::byte> &output) {
  if (Exit exit = elaborate(); exit != Exit::ok)
    return exit;
  std::string problem;
  if (!markRecomputed(*module, options.strategy.recompute, problem))
    return usage(
        concat(options.plan.empty() ? "--recompute: " : "--plan " + options.plan + ": recompute: ",
               problem));
  CompileOptions settled = options;
  settled.strategy.lossScale = lossScaleFor(options.strategy, *module, problem);
  if (!settled.strategy.lossScale)
    return usage(problem);
  {
    TimingScope time = total.nest("digests");
    setDigests(*module);
  }
  dump.write(elaborated.str(), *module);
  report.addPassGroup(elaborated, *module);
  if (options.stopAfter == elaborated) {
    printTo(output);
    return Exit::ok;
  }
  noteWidened(module->getContext(), *target, precisionsOf(*module, *options.strategy.precision));
  if (options.otherMeshes.empty())
    return compile(settled, target, output);
  OwningOpRef<ModuleOp> model = std::move(module);
  std::vector<std::vector<std::byte>> artifacts;
  for (const Mesh &mesh : allMeshes(options)) {
    settled.strategy.mesh = mesh;
    module = model->clone();
    if (Exit exit = compile(settled, target, artifacts.emplace_back()); exit != Exit::ok) {
      llvm::errs() << "note: this occurred for --mesh " << mesh.text() << "\n";
      return exit;
    }
  }
  output = joinArtifacts(artifacts);
  return output.empty()
             ? usage("the programs for all meshes together exceed 2 GiB, the maximum size "
                     "of an artifact: remove a --mesh")
             : Exit::ok;
}

Exit Compilation::compile(const CompileOptions &options, std::shared_ptr<Target> target,
                          std::vector<std::byte> &output) {
  MemoryReport memory;
  const Strategy strategy = strategyFor(options);
  PipelineOptions pipeline{
      .target = target,
      .strategy = strategy,
      .memoryReport = strategy.memory ? &memory : nullptr,
      .watch = [&](PassManager &manager) { dump.watch(manager); },
      .afterPassGroup = [&](llvm::StringRef group,
                            ModuleOp program) { report.addPassGroup(group, program); },
      .dumpKernels = kernelDump(),
      .time = &total};
  // What is too large is planned in other ways from the start.
  OwningOpRef<ModuleOp> whole;
  if (strategy.memory)
    whole = module->clone();
  FitMemory fit(*whole);
  if (options.choosesOffload)
    pipeline.strategy.offload = fit.leastOffload(pipeline, options.choosesMicrobatches);
  if (options.choosesMicrobatches)
    if (int64_t count = fit.bestMicrobatches(pipeline))
      pipeline.strategy.microbatches = count;
  auto failedWith = [&](Exit exit) {
    if (target->tuningFailed())
      exit = Exit::usage;
    if (!memory.fits)
      fit.tellWays(pipeline, wordsOf(options, strategy),
                   [](const std::string &way) { llvm::errs() << "  help: " << way << "\n"; });
    return exit;
  };
  if (!options.stopAfter.empty()) {
    if (failed(runPassGroups(*module, pipeline, options.stopAfter)))
      return failedWith(reporter.exit());
    printTo(output);
    return Exit::ok;
  }
  auto artifact = weir::compile(*module, pipeline);
  if (failed(artifact))
    return failedWith(target->machineFailed() ? Exit::device : reporter.exit());
  if (int64_t taken = strategy.memory ? takenBy(*module, pipeline) : 0;
      strategy.memory && taken > *strategy.memory) {
    llvm::errs() << "error: the compiled step takes " << taken
                 << " bytes, more than estimated and than --memory " << *strategy.memory
                 << ": reduce --memory by the difference\n";
    return Exit::internal;
  }
  if ((*module)->hasAttr(plan::hostAttrName) && !target->stagesPorts() &&
      options.offloadFolder.empty())
    llvm::errs() << "note: offloaded tensors take this machine's memory too, unless you run with "
                    "--offload-dir DIR\n";
  output = std::move(*artifact);
  return Exit::ok;
}

/// Gives the target what was measured of its kernels. A message where the file is not for it.
std::string tune(Target &target, const CompileOptions &options) {
  auto problem = [&](const std::string &what) {
    return "--tuning " + options.tuning + ": " + what;
  };
  auto file = llvm::MemoryBuffer::getFile(options.tuning, /*IsText=*/true);
  if (!file)
    return problem(file.getError().message());
  std::string wrong;
  std::optional<Tuning> tuning = Tuning::parse((*file)->getBuffer(), wrong);
  if (!tuning)
    return problem(wrong);
  if (tuning->target != target.requirement())
    return problem("was measured for " + tuning->target + ", but the target is " +
                   target.requirement().str());
  if (!target.tune(std::move(*tuning)))
    return problem("there is nothing to tune for " + target.requirement().str());
  return "";
}

} // namespace

std::vector<Mesh> allMeshes(const CompileOptions &options) {
  std::vector<Mesh> all = {options.strategy.mesh};
  all.insert(all.end(), options.otherMeshes.begin(), options.otherMeshes.end());
  return all;
}

void splitIntoNodes(CompileOptions &options, int64_t ranksOfNode) {
  options.strategy.mesh = options.strategy.mesh.onNodes(ranksOfNode);
  for (Mesh &mesh : options.otherMeshes)
    mesh = mesh.onNodes(ranksOfNode);
}

Strategy strategyFor(const CompileOptions &options) {
  Strategy strategy = options.strategy.carriedOut(*options.target);
  // Ranks share the threads of a run.
  int64_t all = options.threads ? options.threads : cpu::availableCores();
  strategy.threads = std::max<int64_t>(1, all / strategy.mesh.ranks());
  return strategy;
}

Exit checkModel(const CompileOptions &options) {
  FatalErrors ends;
  return written(Compilation(options).elaborateOnly());
}

Exit compileModel(const CompileOptions &options, std::vector<std::byte> &output) {
  if (std::string problem = unknownPassGroup(options.stopAfter); !problem.empty())
    return usage(problem);
  std::shared_ptr<Target> target = makeTarget(*options.target);
  if (!target)
    return usage("--target " + *options.target + ": expected " + targetOptions());
  std::string problem = wrongPrecision(options.strategy, *target);
  if (!problem.empty())
    return usage(problem);
  FatalErrors ends;
  if (!options.tuning.empty())
    if (problem = tune(*target, options); !problem.empty())
      return usage(problem);
  Compilation compilation(options);
  compilation.prepare();
  Exit exit = compilation.compile(std::move(target), output);
  if (exit == Exit::ok)
    compilation.requireWritten();
  return written(exit);
}

} // namespace weir
