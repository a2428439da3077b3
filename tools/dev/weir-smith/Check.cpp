//===- Check.cpp - One program against itself -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/Passes.h"
#include "support/Error.h"
#include "tools/dev/weir-smith/Checker.h"
#include "verify/Compiled.h"
#include "verify/RandomInputs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace weir::smith {
namespace {

// Between two programs that are both run in f64.
constexpr double f64Tolerance = 1e-9;
// How much of what compiled code may differ rounding alone may take.
constexpr double conditionShare = 0.1;

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

uint64_t hashOf(const ProgramRun &run) {
  llvm::SmallVector<uint64_t> hashes;
  auto add = [&](const Tensor &tensor) {
    llvm::ArrayRef<double> values(tensor.values);
    hashes.push_back(llvm::xxh3_64bits(
        {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(double)}));
  };
  for (const auto &[name, entry] : run) {
    llvm::for_each(entry.results, add);
    for (const auto &[variable, tensor] : entry.variables)
      add(tensor);
  }
  return llvm::xxh3_64bits(
      {reinterpret_cast<const uint8_t *>(hashes.data()), hashes.size() * sizeof(uint64_t)});
}

} // namespace

Checker::Checker(ModuleOp module, const CheckOptions &options)
    : module(module), options(options),
      pipeline{.target = makeTarget(options.code.target), .strategy = strategyOf(module)},
      planned(pipeline), variables(drawVariables(module)),
      handler(module.getContext(), [this](Diagnostic &diagnostic) {
        llvm::raw_string_ostream stream(diagnostics);
        stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
        return success();
      }) {
  for (auto function : module.getOps<func::FuncOp>()) {
    Entry &entry = entries[function.getSymName().str()];
    entry.inputs = drawInputs(function);
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto name = function.getResultAttrOfType<StringAttr>(i, outputAttrName);
      entry.outputs.push_back(name ? name.str() : "output" + std::to_string(i));
      entry.types.push_back(function.getResultTypes()[i]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::optional<ProgramRun> Checker::interpret(ModuleOp program) {
  ProgramRun run;
  for (auto function : program.getOps<func::FuncOp>()) {
    std::string name = function.getSymName().str();
    Interpreter interpreter;
    interpreter.variables = variables;
    auto results = interpreter.run(function, entries.at(name).inputs);
    if (failed(results))
      return fail("the interpreter does not run @" + name), std::nullopt;
    run[name] = {*results, interpreter.variables};
  }
  return run;
}

std::optional<ProgramRun> Checker::interpretPlan(ModuleOp plan, bool offsets) {
  ProgramRun run;
  for (auto entry : plan.getOps<plan::EntryOp>()) {
    std::string name = entry.getSymName().str();
    CellMemory memory(plan, offsets);
    Interpreter interpreter;
    PlanInterpreter machine(plan, memory, interpreter);
    EntryRun &result = run[name];
    result.variables = variables;
    auto outputs = runEntry(machine, memory, entry, entries.at(name).inputs, result.variables);
    if (failed(outputs))
      return fail("the plan interpreter does not run @" + name), std::nullopt;
    result.results = std::move(*outputs);
  }
  return run;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

std::string Checker::difference(const std::string &entry, const EntryRun &run, const EntryRun &with,
                                double tolerance) {
  const Entry &known = entries.at(entry);
  if (run.results.size() != with.results.size())
    return "@" + entry + " has another number of results";
  auto isFloat = [](Type type) {
    return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
  };
  auto isGradient = [&](size_t i) {
    return StringRef(known.outputs[i]).starts_with(gradientPrefix);
  };
  double largest[2] = {0, 0}; // of gradients, of other results
  for (size_t i = 0; i < with.results.size(); ++i)
    if (isFloat(known.types[i]))
      largest[!isGradient(i)] = std::max(largest[!isGradient(i)], norm(with.results[i]));
  auto say = [&](const std::string &what, const Tensor &found, const Tensor &expected,
                 double tolerance, double largest) -> std::string {
    Difference d = compare(found, expected, tolerance, largest);
    // What is zero in mathematics is the rounding of what cancels.
    double noise = 0.1 * tolerance * known.largestNorm;
    if (d.agrees || (norm(expected) <= noise && d.absolute <= noise))
      return "";
    return llvm::formatv(
        "@{0}: {1}: relative difference {2:e3}; element {3} is {4:e9}, expected {5:e9}", entry,
        what, d.relative, d.worstIndex, found.values[d.worstIndex], expected.values[d.worstIndex]);
  };
  for (size_t i = 0; i < with.results.size(); ++i) {
    bool floats = isFloat(known.types[i]);
    std::string message = say(known.outputs[i], run.results[i], with.results[i],
                              floats ? tolerance : 0, floats ? largest[!isGradient(i)] : 0);
    if (!message.empty())
      return message;
  }
  for (auto variable : module.getOps<VariableOp>()) {
    std::string name = variable.getSymName().str();
    auto found = run.variables.find(name), expected = with.variables.find(name);
    if (found == run.variables.end() || expected == with.variables.end())
      return "@" + entry + ": the variable " + name + " is missing";
    std::string message = say("variable " + name, found->second, expected->second,
                              isFloat(variable.getType()) ? tolerance : 0, 0);
    if (!message.empty())
      return message;
  }
  return "";
}

bool Checker::agree(const ProgramRun &run, const ProgramRun &with, double tolerance) {
  for (const auto &[name, expected] : with) {
    auto found = run.find(name);
    if (found == run.end())
      return fail("@" + name + " is missing");
    if (std::string message = difference(name, found->second, expected, tolerance);
        !message.empty())
      return fail(message);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool Checker::roundtrip() {
  if (!begin("verify"))
    return false;
  if (failed(verify(module)))
    return fail("the generated program is not valid");
  if (!begin("roundtrip"))
    return false;
  std::string text = print(module);
  auto parsed = parseSourceString<ModuleOp>(text, module.getContext());
  if (!parsed)
    return fail("what is printed does not parse");
  if (print(*parsed) != text)
    return fail("what is parsed prints differently");
  return true;
}

bool Checker::runTrial(Trial &trial, func::FuncOp function) {
  for (auto &[name, tensor] : variables)
    trial.variables[name] = {tensor, tensor, true};
  SmallVector<Known> inputs;
  for (const Tensor &tensor : entries.at(function.getSymName().str()).inputs)
    inputs.push_back({tensor, tensor, true});
  return trial.run(function, inputs);
}

/// Refuses a program for what it computes itself: what happens in its gradients, which are ours, is
/// no reason to look away.
bool Checker::tryForward(ModuleOp program) {
  if (!begin("forward"))
    return false;
  for (auto function : program.getOps<func::FuncOp>()) {
    Trial trial;
    trial.onGradient = [](GradientOp) {};
    if (!runTrial(trial, function))
      return refuse(trial.refusal);
  }
  return true;
}

/// Refuses a program whose gradients, right as they are, f32 does not hold well.
bool Checker::tryInF32(ModuleOp differentiated) {
  for (auto function : differentiated.getOps<func::FuncOp>()) {
    std::string name = function.getSymName().str();
    Trial trial;
    if (!runTrial(trial, function))
      return trial.finite ? refuse(trial.refusal)
                          : fail("@" + name + ": " + trial.refusal +
                                 ", where all that the gradients are made of is finite");
    entries[name].largestNorm = trial.largestNorm;
    EntryRun exactly, roughly;
    for (Known &known : trial.last.results) {
      exactly.results.push_back(std::move(known.truth));
      roughly.results.push_back(std::move(known.rounded));
    }
    exactly.variables = roughly.variables = variables;
    for (auto &[variable, known] : trial.last.writes) {
      exactly.variables[variable] = std::move(known.truth);
      roughly.variables[variable] = std::move(known.rounded);
    }
    if (std::string message =
            difference(name, roughly, exactly, conditionShare * gradientTolerance);
        !message.empty())
      return refuse("rounding moves " + message);
  }
  return true;
}

bool Checker::runPasses(ModuleOp on, std::initializer_list<std::unique_ptr<Pass> (*)()> passes) {
  PassManager manager(module.getContext());
  for (auto create : passes)
    manager.addNestedPass<func::FuncOp>(create());
  return succeeded(manager.run(on)) || fail("a pass that truth needs fails");
}

bool Checker::findTruth() {
  // Differences are of a loss that is computed where its gradient is.
  OwningOpRef<ModuleOp> program = copy();
  if (!runPasses(*program, {createAccumulateGradients}) || !tryForward(*program) ||
      !begin("autodiff"))
    return false;
  OwningOpRef<ModuleOp> differentiated(program->clone());
  if (!runPasses(*differentiated, {createAutodiff}))
    return false;
  if (options.plant && options.plantAfter == "autodiff")
    options.plant(*differentiated);
  auto run = interpret(*differentiated);
  if (!run)
    return false;
  truth = std::move(*run);
  // What rounds inside the recipe's ops is seen where they are written out.
  OwningOpRef<ModuleOp> written(differentiated->clone());
  if (!runPasses(*written, {createClip, createSkipSteps}) || !begin("gradient"))
    return false;
  for (auto function : differentiated->getOps<func::FuncOp>())
    if (std::string message = checkGradients(*program, function); !message.empty()) {
      // Where f32 has trouble, differences may be poor as well, but not all wrong.
      if (checkGradients(*program, function, 1e-2, 1e-8).empty() && !tryInF32(*written))
        return false;
      return fail("@" + function.getSymName().str() + ": " + message);
    }
  return tryInF32(*written);
}

bool Checker::apply(const PipelinePass &pass, ModuleOp to, const PipelineOptions &with) {
  attachStrategy(to, with.strategy);
  PassManager manager(module.getContext());
  pass.add(manager, with);
  if (failed(manager.run(to)))
    return fail("the pass fails");
  for (auto variable : to.getOps<VariableOp>()) // a pass may declare one
    if (StringRef name = variable.getSymName(); !variables.contains(name.str()))
      variables[name.str()] = draw(module, name, variable.getType(), {});
  if (options.plant && options.plantAfter == pass.name)
    options.plant(to);
  return true;
}

/// What the program takes so, unless a pass fails that has room enough.
std::optional<MemoryReport> Checker::measure(const PipelineOptions &with) {
  MemoryReport report;
  report.explained = false;
  PipelineOptions reported = with;
  reported.memoryReport = &report;
  bool failed = mlir::failed(runPassGroups(*copy(), reported, passGroupsOnTensors().back().name));
  if (failed && report.fits)
    return std::nullopt;
  diagnostics.clear();
  return report;
}

/// Has `planned` ask for as much memory as the program says, or as the least that is found.
bool Checker::findRoom() {
  auto room = module->getAttrOfType<FloatAttr>(roomAttrName);
  if (!room)
    return true;
  if (!begin("room"))
    return false;
  planned.strategy.offload = Offload{.activations = module->hasAttr(offloadAttrName)};
  std::optional<int64_t> &memory = planned.strategy.memory;
  auto all = measure(planned);
  if (!all)
    return fail("a pass fails where memory is measured");
  memory =
      all->persistent + int64_t(room.getValueAsDouble() * double(all->bytes - all->persistent));
  for (int tries = 0; tries < 2; ++tries) {
    auto some = measure(planned);
    if (!some)
      return fail("a pass fails where memory is " + std::to_string(*memory));
    if (some->fits)
      return true;
    memory = some->bytes;
  }
  memory.reset();
  return true;
}

/// Whether the target takes attention apart that is in the program.
bool Checker::declinesAttention(ModuleOp program) {
  return program
      ->walk([&](Decomposable op) {
        auto fusible = dyn_cast<Fusible>(op.getOperation());
        bool declined = fusible && fusible.kernelShape() == KernelShape::attention &&
                        !pipeline.target->declines(KernelShape::attention, op).empty();
        return declined ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Checker::everyPass() {
  OwningOpRef<ModuleOp> program = copy();
  ProgramRun before = truth;
  bool differentiated = false;
  for (const PassGroup &group : passGroupsOnTensors())
    for (const PipelinePass &pass : group.passes) {
      if (!begin(("pass " + pass.name).str()))
        return false;
      std::string text = print(*program);
      bool takesApart = declinesAttention(*program);
      if (!apply(pass, *program, planned))
        return false;
      if (options.onChange && print(*program) != text)
        options.onChange(pass.name, *program);
      differentiated |= pass.name == "autodiff";
      if (!differentiated)
        continue; // the interpreter would take differences, which are no exact truth
      for (auto variable : program->getOps<VariableOp>()) // a pass may make its type smaller
        roundTo(variable.getType(), variables[variable.getSymName().str()]);
      auto run = interpret(*program);
      if (!run)
        return false;
      if (pass.changesNumbers && print(*program) != text) {
        // What is behind it has the new numbers, unless f32 does not say which they round to.
        before = truth = std::move(*run);
        rounds = true;
        if (!tryInF32(*program))
          return false;
        continue;
      }
      // A composite that is taken apart has its numbers as constants of f32.
      bool folds = pass.name == "autodiff" || pass.name.starts_with("simplify") ||
                   (pass.name == "fuse" && takesApart);
      if (!agree(*run, before, folds ? foldTolerance : f64Tolerance))
        return false;
      before = std::move(*run);
    }
  return true;
}

bool Checker::without() {
  bool differentiates = false;
  for (const PassGroup &group : passGroupsOnTensors())
    for (const PipelinePass &left : group.passes) {
      // In front of what rounds, it may decide where that is done.
      differentiates |= left.name == "autodiff";
      if (!left.optional || (rounds && !differentiates))
        continue;
      if (!begin(("without " + left.name).str()))
        return false;
      OwningOpRef<ModuleOp> program = copy();
      for (const PassGroup &group : passGroupsOnTensors())
        for (const PipelinePass &pass : group.passes)
          if (pass.name != left.name && !apply(pass, *program, pipeline))
            return false;
      auto run = interpret(*program);
      if (!run || !agree(*run, truth, foldTolerance))
        return false;
    }
  return true;
}

/// Every artifact has these, a shrunk program may not.
void Checker::addMissingEntries(ModuleOp program) {
  for (StringRef needed : {"init", "step"}) {
    if (program.lookupSymbol(needed))
      continue;
    OpBuilder builder = OpBuilder::atBlockEnd(program.getBody());
    auto entry =
        func::FuncOp::create(builder, program.getLoc(), needed, builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock());
    func::ReturnOp::create(builder, entry.getLoc());
    entries[needed.str()];
  }
  nameEntryPorts(program);
}

bool Checker::plan() {
  OwningOpRef<ModuleOp> program = copy();
  for (const PassGroup &group : passGroupsOnTensors())
    for (const PipelinePass &pass : group.passes)
      if (!apply(pass, *program, planned))
        return false;
  addMissingEntries(*program);
  if (!begin("plan"))
    return false;
  for (StringRef pass : {"lower-to-plan", "assign-offsets", "verify-planned"})
    if (failed(runPass(pass, *program, pipeline)))
      return fail("planning fails");
  auto run = interpretPlan(*program, false);
  if (!run || !agree(*run, truth, foldTolerance))
    return false;
  if (!begin("offsets"))
    return false;
  run = interpretPlan(*program, true);
  if (!run || !agree(*run, truth, foldTolerance))
    return false;
  if (!options.code.compile || !begin("compile"))
    return false;
  if (failed(runPass("compile-kernels", *program, pipeline)))
    return fail("code generation fails");
  if (!begin("load"))
    return false;
  try {
    runTolerance = std::max(gradientTolerance, 2 * roundingOfFactors(*program));
    return runCompiled(writeArtifact(*program), "run", "threads");
  } catch (const Failure &failure) {
    return fail(failure.what());
  }
}

bool Checker::runCompiled(const std::vector<std::byte> &artifact, StringRef once, StringRef again) {
  std::optional<ProgramRun> first;
  for (int threads : {1, 3}) {
    CompiledProgram loaded(artifact, {.threads = threads, .kind = options.code.device});
    if (!begin(threads == 1 ? once : again))
      return false;
    ProgramRun run;
    auto names = llvm::to_vector(llvm::make_first_range(entries));
    if (threads > 1)
      std::reverse(names.begin(), names.end());
    for (const std::string &name : names) {
      loaded.setVariables(variables);
      EntryRun &result = run[name];
      result.results = loaded.run(name, entries.at(name).inputs);
      result.variables = loaded.variables();
    }
    // Neither the number of threads nor what ran before changes a bit.
    if (first ? !agree(run, *first, 0) : !agree(run, truth, runTolerance))
      return false;
    first = std::move(run);
  }
  if (once == "run")
    outcome.bits = hashOf(*first);
  return true;
}

Outcome Checker::run() {
  if (roundtrip() && findTruth() && findRoom() && everyPass() && without() && plan())
    ranks();
  return outcome;
}

Outcome check(ModuleOp module, const CheckOptions &options) {
  return Checker(module, options).run();
}

void setUp(DialectRegistry &registry) {
  registry.insert<WeirDialect, func::FuncDialect, plan::PlanDialect>();
  registerReferenceInterpreter(registry);
  registerPlanInterpreter(registry);
}

} // namespace weir::smith
