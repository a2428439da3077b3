//===- Compile.cpp - From a model file to an artifact's bytes -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// model file -> weir IR (frontend) -> the phases of passes/Pipeline.cpp -> plan IR (codegen/plan)
// -> offsets -> machine code (codegen/cpu) -> artifact. Every step of that list can be stopped
// after.
//
//===----------------------------------------------------------------------===//

#include "tools/weir/Compile.h"
#include "codegen/artifact/Writer.h"
#include "codegen/cpu/Kernels.h"
#include "codegen/plan/LowerToPlan.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/weir/Digest.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "tools/weir/DumpIr.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/ReportDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {
namespace {

constexpr llvm::StringLiteral elaborated = "elaborate", planned = "plan";

Exit usage(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return Exit::usage;
}

/// `exit`, where standard output took all JSON diagnostics. (LLVM would abort at the process's
/// end.)
Exit written(Exit exit) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return exit;
  std::string reason = llvm::outs().error().message();
  llvm::outs().clear_error();
  llvm::errs() << "error: standard output: cannot write all of the results: " << reason << "\n";
  return Exit::storage;
}

std::vector<std::string> phaseNames() {
  std::vector<std::string> names = {elaborated.str()};
  for (const Phase &phase : phases())
    names.push_back(phase.name.str());
  names.push_back(planned.str());
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

/// One compile. Diagnostics of the passes go through `reporter` as long as it lives.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options)
      : options(options), dump(options.dumpIr), reporter(context, options) {
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
  Exit compile(const Target &target, std::vector<std::byte> &output);
  /// Throws Failure(Exit::storage) where a file of --dump-ir could not be written.
  void requireDumped() const { dump.requireWritten(); }

private:
  bool runPhases();
  bool plan(const Target &target);
  bool stopsAfter(llvm::StringRef phase, std::vector<std::byte> &output);

  const CompileOptions &options;
  DefaultTimingManager timing; ///< prints when all that is timed is gone
  TimingScope total;
  SourceManager sources;
  MLIRContext context;
  DumpIr dump;
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

/// Fills `output` with the module's text if this is where to stop.
bool Compilation::stopsAfter(llvm::StringRef phase, std::vector<std::byte> &output) {
  if (options.stopAfter != phase)
    return false;
  std::string text = printed(*module);
  auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  output.assign(bytes, bytes + text.size());
  return true;
}

bool Compilation::runPhases() {
  for (const Phase &phase : phases()) {
    TimingScope time = total.nest(phase.name);
    PassManager manager(&context);
    manager.enableTiming(time);
    phase.add(manager);
    dump.watch(manager);
    if (failed(manager.run(*module)))
      return false;
    if (options.stopAfter == phase.name)
      break;
  }
  return true;
}

bool Compilation::plan(const Target &target) {
  TimingScope time = total.nest(planned);
  TimingScope lowering = time.nest("lower-to-plan");
  if (failed(lowerToPlan(*module, target)))
    return false;
  lowering.stop();
  dump.write("lower-to-plan", *module);
  PassManager manager(&context);
  manager.enableTiming(time);
  manager.addPass(createAssignOffsets());
  manager.addPass(createVerifyPlanned());
  dump.watch(manager);
  return succeeded(manager.run(*module));
}

Exit Compilation::compile(const Target &target, std::vector<std::byte> &output) {
  if (Exit exit = elaborate(); exit != Exit::ok)
    return exit;
  {
    TimingScope time = total.nest("digests");
    setDigests(*module);
  }
  dump.write(elaborated.str(), *module);
  if (stopsAfter(elaborated, output))
    return Exit::ok;
  if (!runPhases())
    return reporter.exit();
  for (const Phase &phase : phases())
    if (stopsAfter(phase.name, output))
      return Exit::ok;
  if (!plan(target))
    return reporter.exit();
  if (stopsAfter(planned, output))
    return Exit::ok;
  auto kernels = kernelsOf(*module);
  auto code = compileKernels(
      kernels, target,
      [&](llvm::StringRef phase, ModuleOp kernelModule) {
        dump.write(("kernels-" + phase).str(), kernelModule);
      },
      total.nest("kernels"));
  if (failed(code))
    return reporter.exit();
  TimingScope writing = total.nest("artifact");
  output = writeArtifact(*module, *code);
  return Exit::ok;
}

} // namespace

Exit checkModel(const CompileOptions &options) {
  FatalErrors ends;
  return written(Compilation(options).elaborateOnly());
}

Exit compileModel(const CompileOptions &options, std::vector<std::byte> &output) {
  if (std::string problem = unknownPhase(options.stopAfter); !problem.empty())
    return usage(problem);
  std::optional<Target> target = Target::parse(options.target);
  if (!target)
    return usage(
        "--target " + options.target +
        ": expected cpu:x86-64-v3 or cpu:x86-64-v4, or cpu on a machine with at least x86-64-v3");
  FatalErrors ends;
  Compilation compilation(options);
  compilation.prepare();
  Exit exit = compilation.compile(*target, output);
  if (exit == Exit::ok)
    compilation.requireDumped();
  return written(exit);
}

} // namespace weir
