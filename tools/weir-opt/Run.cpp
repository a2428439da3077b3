//===- Run.cpp - weir-opt --run -------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir-opt/Run.h"
#include "ir/plan/PlanOps.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/reference/Requirements.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tools/weir-opt/TensorText.h"
#include "llvm/Support/CommandLine.h"
#include <new>
#include <optional>
#include <stdexcept>

using namespace mlir;

namespace weir {
namespace {

struct RunOptions {
  llvm::cl::OptionCategory category{"Running (weir-opt --run)",
                                    "Run a function with the reference interpreter"};
  llvm::cl::opt<bool> run{
      "run", llvm::cl::desc("Run a function after the passes; print its results, not the IR"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> entry{"entry",
                                   llvm::cl::desc("The function to run (default: the only one)"),
                                   llvm::cl::value_desc("name"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> inputs{
      "input",
      llvm::cl::desc("One per argument, in order: 2x2xf32=1,2,3,4, or one element for all, or "
                     "@x.npy"),
      llvm::cl::value_desc("tensor"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> variables{
      "variable", llvm::cl::desc("The value of a weir.variable before the function"),
      llvm::cl::value_desc("name=tensor"), llvm::cl::cat(category)};
};

/// Made before the command line is parsed, and for the process's life.
RunOptions *options = nullptr;

struct Port {
  std::string name;
  Type type;

  /// Once the entry is checked.
  RankedTensorType tensor() const { return cast<RankedTensorType>(type); }
};

/// What can be run, of either dialect.
struct Entry {
  std::string name;
  Operation *op;
  std::vector<Port> inputs, outputs;
};

std::string nameOr(StringAttr attribute, const llvm::Twine &otherwise) {
  return attribute ? attribute.str() : otherwise.str();
}

Entry entryOf(func::FuncOp function) {
  Entry entry{function.getName().str(), function, {}, {}};
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    entry.inputs.push_back(
        {nameOr(function.getArgAttrOfType<StringAttr>(i, inputAttrName), "input" + llvm::Twine(i)),
         type});
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    entry.outputs.push_back({nameOr(function.getResultAttrOfType<StringAttr>(i, outputAttrName),
                                    "output" + llvm::Twine(i)),
                             type});
  return entry;
}

Entry entryOf(plan::EntryOp op) {
  Entry entry{op.getSymName().str(), op, {}, {}};
  for (auto port : op.getOps<plan::PortOp>())
    (port.getKind() == plan::PortKind::input ? entry.inputs : entry.outputs)
        .push_back({port.getName().str(), port.getType()});
  return entry;
}

class RunPass : public PassWrapper<RunPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunPass)

  StringRef getName() const override { return "run"; }
  void runOnOperation() override {
    if (failed(runInMemory(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult runInMemory(ModuleOp module);
  LogicalResult run(ModuleOp module);
  FailureOr<Entry> choose(ModuleOp module);
  LogicalResult check(const Entry &entry);
  LogicalResult checkMemory(const Entry &entry);
  FailureOr<Tensors> readInputs(const Entry &entry);
  LogicalResult declareVariables(ModuleOp module);
  LogicalResult readVariables();
  FailureOr<Tensors> execute(ModuleOp module, const Entry &entry, ArrayRef<Tensor> inputs);

  llvm::MapVector<StringRef, RankedTensorType> declared; ///< the module's variables
  std::map<std::string, Tensor> variables;
};

LogicalResult complain(const llvm::Twine &text) {
  llvm::errs() << "error: " << text << "\n";
  return failure();
}

std::string quotedList(ArrayRef<std::string> names) {
  return names.empty() ? "none" : llvm::join(names, ", ");
}

FailureOr<Entry> RunPass::choose(ModuleOp module) {
  std::vector<Entry> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration())
      entries.push_back(entryOf(function));
  for (auto op : module.getOps<plan::EntryOp>())
    entries.push_back(entryOf(op));
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  const std::string &wanted = options->entry;
  if (wanted.empty() && entries.size() == 1)
    return entries[0];
  if (wanted.empty())
    return complain("--run: say which function with --entry; there are: " + quotedList(names));
  for (const Entry &entry : entries)
    if (entry.name == wanted)
      return entry;
  return complain("--entry " + wanted +
                  ": no function of that name; there are: " + quotedList(names));
}

/// The types of a function, or of what a plan holds, are seen by no op's verifier.
LogicalResult checkTensor(const llvm::Twine &what, Type type) {
  std::string lacks = missingOfTensor(type);
  if (lacks.empty())
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return complain(what + " is " + text + ", expected " + lacks);
}

LogicalResult RunPass::check(const Entry &entry) {
  if (auto function = dyn_cast<func::FuncOp>(entry.op);
      function && !function.getBody().hasOneBlock())
    return complain("@" + entry.name + " has " +
                    llvm::Twine(function.getBody().getBlocks().size()) +
                    " blocks, expected one: the interpreter runs the weir and plan dialects, "
                    "without branches");
  for (const auto &ports : {entry.inputs, entry.outputs})
    for (const Port &port : ports)
      if (failed(checkTensor("@" + entry.name + ": " + port.name, port.type)))
        return failure();
  return success();
}

LogicalResult RunPass::checkMemory(const Entry &entry) {
  SmallVector<Type> held;
  for (const Port &port : entry.inputs)
    held.push_back(port.type);
  for (auto &[name, type] : declared)
    held.push_back(type);
  std::string problem = tooLargeToInterpret(entry.op, held);
  return problem.empty()
             ? success()
             : complain("@" + entry.name + " " + problem + "; run it with smaller shapes");
}

FailureOr<Tensors> RunPass::readInputs(const Entry &entry) {
  if (options->inputs.size() != entry.inputs.size()) {
    std::string needed;
    for (const Port &port : entry.inputs)
      needed += " --input=" + shapeText(port.tensor()) + "=...";
    return complain("@" + entry.name + " has " + llvm::Twine(entry.inputs.size()) +
                    " inputs, but " + llvm::Twine(options->inputs.size()) +
                    " were given; expected" + (needed.empty() ? " none" : needed));
  }
  Tensors tensors;
  for (auto [port, text] : llvm::zip_equal(entry.inputs, options->inputs)) {
    llvm::Expected<Tensor> tensor = parseTensor(text, port.tensor());
    if (!tensor)
      return complain("--input " + llvm::Twine(tensors.size() + 1) + " (" + port.name +
                      "): " + llvm::toString(tensor.takeError()));
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

LogicalResult RunPass::declareVariables(ModuleOp module) {
  for (auto variable : module.getOps<VariableOp>())
    declared[variable.getSymName()] = cast<RankedTensorType>(variable.getType());
  for (auto variable : module.getOps<plan::VariableOp>()) {
    if (failed(checkTensor("variable " + variable.getSymName(), variable.getType())))
      return failure();
    declared[variable.getSymName()] = cast<RankedTensorType>(variable.getType());
  }
  return success();
}

LogicalResult RunPass::readVariables() {
  for (const std::string &text : options->variables) {
    auto [name, value] = StringRef(text).split('=');
    auto found = declared.find(name);
    if (found == declared.end()) {
      std::vector<std::string> names;
      for (auto &[known, type] : declared)
        names.push_back(known.str());
      return complain("--variable " + name +
                      ": no variable of that name; there are: " + quotedList(names));
    }
    llvm::Expected<Tensor> tensor = parseTensor(value, found->second);
    if (!tensor)
      return complain("--variable " + name + ": " + llvm::toString(tensor.takeError()));
    variables[name.str()] = std::move(*tensor);
  }
  return success();
}

/// The interpreter's memory believes every place that the plan says. Where there are none yet, some
/// are chosen to prove the rest with.
LogicalResult prove(ModuleOp plan) {
  OwningOpRef<ModuleOp> proven(plan.clone());
  PassManager passes(plan.getContext());
  if (!plan->hasAttr(plan::arenaAttrName))
    passes.addPass(createAssignOffsets());
  passes.addPass(createVerifyPlanned());
  return passes.run(*proven);
}

FailureOr<Tensors> RunPass::execute(ModuleOp module, const Entry &entry, ArrayRef<Tensor> inputs) {
  Interpreter interpreter;
  if (auto function = dyn_cast<func::FuncOp>(entry.op)) {
    interpreter.variables = variables;
    FailureOr<Tensors> results = interpreter.run(function, inputs);
    variables = std::move(interpreter.variables);
    return results;
  }
  auto planned = cast<plan::EntryOp>(entry.op);
  for (auto &[name, type] : declared)
    if (!variables.count(name.str()))
      return complain("a plan has all its variables in memory: give " + name +
                      " a value, --variable=" + name + "=" + shapeText(type) + "=...");
  if (failed(prove(module)))
    return failure();
  CellMemory memory(module, module->hasAttr(plan::arenaAttrName));
  PlanInterpreter machine(module, memory, interpreter);
  return runEntry(machine, memory, planned, inputs, variables);
}

/// With a message where the memory ends.
LogicalResult RunPass::runInMemory(ModuleOp module) {
  auto tooLarge = [] {
    return complain("--run: out of memory: the interpreter holds every element as f64; run it with "
                    "smaller shapes");
  };
  try {
    return run(module);
  } catch (const std::bad_alloc &) {
    return tooLarge();
  } catch (const std::length_error &) { // more than a vector can hold
    return tooLarge();
  }
}

LogicalResult RunPass::run(ModuleOp module) {
  FailureOr<Entry> entry = choose(module);
  if (failed(entry) || failed(check(*entry)) || failed(declareVariables(module)) ||
      failed(checkMemory(*entry)) || failed(readVariables()))
    return failure();
  FailureOr<Tensors> inputs = readInputs(*entry);
  if (failed(inputs))
    return failure();
  std::map<std::string, Tensor> before = variables;
  FailureOr<Tensors> results = execute(module, *entry, *inputs);
  if (failed(results))
    return failure();
  for (auto [port, tensor] : llvm::zip_equal(entry->outputs, *results)) {
    llvm::outs() << port.name << ": " << shapeText(port.tensor()) << "\n";
    printTensor(llvm::outs(), tensor, port.tensor());
  }
  for (auto &[name, tensor] : variables) {
    llvm::outs() << "variable " << name << ": " << shapeText(declared[name]) << "\n";
    printTensor(llvm::outs(), tensor, declared[name]);
  }
  return success();
}

} // namespace

void registerRunOptions() { options = new RunOptions; }

bool runWasAsked() {
  if (!options->run && (options->entry.getNumOccurrences() || !options->inputs.empty() ||
                        !options->variables.empty())) {
    llvm::errs() << "error: --entry, --input and --variable belong to --run\n";
    exit(1);
  }
  return options->run;
}

std::unique_ptr<Pass> createRunPass() { return std::make_unique<RunPass>(); }

} // namespace weir
