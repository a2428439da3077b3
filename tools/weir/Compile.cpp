//===- Compile.cpp - From a model file to an artifact's bytes -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// model file -> weir IR (frontend) -> the phases of passes/Pipeline.cpp -> artifact. Every step of
// that list can be stopped after.
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Compile.h"
#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/Digest.h"
#include "ir/weir/Names.h"
#include "ir/weir/Recompute.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/memory/Reserve.h"
#include "runtime/base/Hosts.h"
#include "runtime/base/Mesh.h"
#include "runtime/base/Text.h"
#include "runtime/cpu/ThreadPool.h"
#include "tools/weir/CompileReport.h"
#include "tools/weir/DumpIr.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/FitMemory.h"
#include "tools/weir/PrecisionOptions.h"
#include "tools/weir/ReportDiagnostics.h"
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

std::vector<std::string> phaseNames() {
  std::vector<std::string> names = {elaborated.str()};
  for (const Phase &phase : phases())
    names.push_back(phase.name.str());
  return names;
}

/// A message if the option names no phase.
std::string unknownPhase(const std::string &name) {
  std::vector<std::string> names = phaseNames();
  if (name.empty() || llvm::is_contained(names, name))
    return "";
  std::string message = "--stop-after " + name + ": no such phase";
  if (auto near = nearest(name, names))
    message += "; did you mean '" + *near + "'?";
  return message + "; there are " + llvm::join(names, ", ");
}

/// The bytes that a run of a plan takes.
int64_t takenBy(ModuleOp plan, const PipelineOptions &options) {
  return plan->getAttrOfType<IntegerAttr>(plan::arenaAttrName).getInt() +
         reserveOf(*options.target, options.threads, plan).bytes();
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
  Exit compile(std::shared_ptr<Target> target, Precisions named, std::vector<std::byte> &output);
  /// What is elaborated, for the one mesh of `options`.
  Exit compile(const CompileOptions &options, std::shared_ptr<Target> target, Precisions named,
               LossScale scale, std::vector<std::byte> &output);
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

int64_t rankCount(const CompileOptions &options) {
  return std::get<Mesh>(Mesh::parse(ranksOf(options).mesh)).ranks();
}

/// Ranks share the threads of a run.
int64_t threadsOfRank(const CompileOptions &options) {
  int64_t all = options.threads ? options.threads : cpu::availableCores();
  return std::max<int64_t>(1, all / rankCount(options));
}

/// What is offloaded lies in this machine's memory where it is no file.
FitMemory::Words wordsOf(const CompileOptions &options) {
  FitMemory::Words words{.hasFolder = !options.offloadFolder.empty(), .ranks = rankCount(options)};
  if (options.memoryIsHere && !options.alsoRuns)
    words.budget = "--memory " + std::to_string(options.memory) + " ";
  return words;
}

Exit Compilation::compile(std::shared_ptr<Target> target, Precisions named,
                          std::vector<std::byte> &output) {
  if (Exit exit = elaborate(); exit != Exit::ok)
    return exit;
  std::string problem;
  if (!markRecomputed(*module, options.recompute, problem))
    return usage("--recompute: " + problem);
  std::optional<LossScale> scale =
      lossScaleFor(options.lossScale, *module, named.precision, problem);
  if (!scale)
    return usage(problem);
  {
    TimingScope time = total.nest("digests");
    setDigests(*module);
  }
  dump.write(elaborated.str(), *module);
  report.addPhase(elaborated, *module);
  if (options.stopAfter == elaborated) {
    printTo(output);
    return Exit::ok;
  }
  noteWidened(module->getContext(), *target, precisionsOf(*module, named.precision));
  if (options.otherMeshes.empty())
    return compile(options, target, named, *scale, output);
  OwningOpRef<ModuleOp> model = std::move(module);
  std::vector<std::vector<std::byte>> artifacts;
  for (const std::string &mesh : allMeshes(options)) {
    CompileOptions one = options;
    one.mesh = mesh;
    module = model->clone();
    if (Exit exit = compile(one, target, named, *scale, artifacts.emplace_back());
        exit != Exit::ok) {
      llvm::errs() << "note: that is of --mesh " << mesh << "\n";
      return exit;
    }
  }
  output = joinArtifacts(artifacts);
  return output.empty() ? usage("the programs for all meshes are larger together than the 2 GiB "
                                "that an artifact can be: leave a --mesh out")
                        : Exit::ok;
}

Exit Compilation::compile(const CompileOptions &options, std::shared_ptr<Target> target,
                          Precisions named, LossScale scale, std::vector<std::byte> &output) {
  MemoryReport memory;
  RankOptions ranks = ranksOf(options);
  if (!ranks.hosts.empty())
    (*module)->setAttr(hostsAttrName, Builder(&context).getStringAttr(ranks.hosts));
  PipelineOptions pipeline{.target = target,
                           .precision = named.precision,
                           .master = named.master,
                           .lossScale = scale,
                           .microbatches = options.microbatches,
                           .memoryReport = options.memory ? &memory : nullptr,
                           .memory = options.memory,
                           .threads = threadsOfRank(options),
                           .offload = {options.offload, options.offloadsActivations},
                           .mesh = ranks.mesh,
                           .zero = ranks.zero,
                           .schedule = options.schedule.empty() ? "1f1b" : options.schedule,
                           .sequenceParallel = options.sequenceParallel,
                           .contextParallel = options.contextParallel,
                           .rates = options.rates,
                           // Ranks of one process exchange once for all of them, in one order.
                           .overlap = options.overlap && !options.deterministic,
                           .lowSums = options.lowSums,
                           .lowGradients = options.lowGradients,
                           .link = Link::parse(options.link).value_or(Link()),
                           .watch = [&](PassManager &manager) { dump.watch(manager); },
                           .afterPhase = [&](llvm::StringRef phase,
                                             ModuleOp program) { report.addPhase(phase, program); },
                           .dumpKernels = kernelDump(),
                           .time = &total};
  // What is too large is planned in other ways from the start.
  OwningOpRef<ModuleOp> whole;
  if (options.memory)
    whole = module->clone();
  FitMemory fit(*whole);
  if (options.choosesOffload)
    pipeline.offload = fit.leastOffload(pipeline, options.choosesMicrobatches);
  if (options.choosesMicrobatches)
    pipeline.microbatches = fit.bestMicrobatches(pipeline);
  auto failedWith = [&](Exit exit) {
    if (target->tuningFailed())
      exit = Exit::usage;
    if (!memory.fits)
      fit.tellWays(pipeline, wordsOf(options),
                   [](const std::string &way) { llvm::errs() << "  help: " << way << "\n"; });
    return exit;
  };
  if (!options.stopAfter.empty()) {
    if (failed(runPhases(*module, pipeline, options.stopAfter)))
      return failedWith(reporter.exit());
    printTo(output);
    return Exit::ok;
  }
  auto artifact = weir::compile(*module, pipeline);
  if (failed(artifact))
    return failedWith(target->machineFailed() ? Exit::device : reporter.exit());
  if (int64_t taken = options.memory ? takenBy(*module, pipeline) : 0; taken > options.memory) {
    llvm::errs() << "error: the plan takes " << taken
                 << " bytes, more than was estimated and than --memory " << options.memory
                 << "; give less, for what it exceeds\n";
    return Exit::internal;
  }
  if ((*module)->hasAttr(plan::hostAttrName) && !target->stagesPorts() &&
      options.offloadFolder.empty())
    llvm::errs() << "note: what is offloaded lies in this machine's memory too, unless it is run "
                    "with --offload-dir DIR\n";
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
    return problem("was measured for " + tuning->target + ", and this is for " +
                   target.requirement().str());
  if (!target.tune(std::move(*tuning)))
    return problem("there is nothing to choose for " + target.requirement().str());
  return "";
}

} // namespace

std::vector<std::string> allMeshes(const CompileOptions &options) {
  std::vector<std::string> all = {options.mesh};
  all.insert(all.end(), options.otherMeshes.begin(), options.otherMeshes.end());
  return all;
}

RankOptions ranksOf(const CompileOptions &options) {
  if (!options.deterministic) {
    // One processor of itself is no mesh. One GPU stays one, over NCCL: it is how that is tried.
    bool isAlone = std::get<Mesh>(Mesh::parse(options.mesh)).ranks() == 1;
    return {isAlone && options.target.starts_with("cpu") ? "" : options.mesh, options.zero, ""};
  }
  // With as little on each rank as can be, since a device has many. Stages change no bit; experts
  // and parts of sequences are as many as the mesh says.
  const Mesh mesh = std::get<Mesh>(Mesh::parse(options.mesh));
  std::string others;
  // In one order, however the mesh names them: sums over several axes are made in theirs.
  for (std::string_view name : {stageAxis, expertAxis, contextAxis})
    if (int axis = mesh.find(name); axis >= 0 && mesh.axes[size_t(axis)].size > 1)
      others += concat(name, "=", mesh.axes[size_t(axis)].size, ",");
  Mesh hosts;
  for (const Mesh::Axis &axis : mesh.axes)
    if (axis.name == dataAxis || axis.name == tensorAxis || axis.size > 1)
      hosts.axes.push_back(axis);
  return {
      concat(others, dataAxis, "=", deterministicRanks, ",", tensorAxis, "=", deterministicRanks),
      3, hosts.axes.empty() ? "dp=1" : hosts.text()};
}

Exit checkModel(const CompileOptions &options) {
  FatalErrors ends;
  return written(Compilation(options).elaborateOnly());
}

Exit compileModel(const CompileOptions &options, std::vector<std::byte> &output) {
  if (std::string problem = unknownPhase(options.stopAfter); !problem.empty())
    return usage(problem);
  std::shared_ptr<Target> target = makeTarget(options.target);
  if (!target)
    return usage("--target " + options.target + ": expected " + targetOptions());
  std::string problem;
  std::optional<Precisions> named = precisionsNamed(options, *target, problem);
  if (!named)
    return usage(problem);
  FatalErrors ends;
  if (!options.tuning.empty())
    if (problem = tune(*target, options); !problem.empty())
      return usage(problem);
  Compilation compilation(options);
  compilation.prepare();
  Exit exit = compilation.compile(std::move(target), *named, output);
  if (exit == Exit::ok)
    compilation.requireWritten();
  return written(exit);
}

} // namespace weir
