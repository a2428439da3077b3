//===- FindOp.cpp - Finds the op of a kernel that produces a NaN ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/FindOp.h"
#include "ir/plan/PlanOps.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"
#include "support/Text.h"
#include "verify/ArenaMemory.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

namespace weir {
namespace {

/// Elements of all values of a kernel together that are worth the memory, eight bytes each.
constexpr int64_t mostElements = int64_t(1) << 28;

/// What is not finite in a value.
struct Found {
  bool nan = false, infinite = false;
  bool accident = false; ///< infinities that no constant and no input has
  size_t first = 0;      ///< the element's number
  bool any() const { return nan || infinite; }
};

Found lookAt(const Tensor &tensor) {
  Found found;
  for (size_t i = tensor.values.size(); i-- > 0;)
    if (!std::isfinite(tensor.values[i])) {
      found.first = i;
      (std::isnan(tensor.values[i]) ? found.nan : found.infinite) = true;
    }
  // What is told of is the worse of the two.
  if (found.nan && found.infinite)
    found.first = llvm::find_if(tensor.values, [](double x) { return std::isnan(x); }) -
                  tensor.values.begin();
  return found;
}

/// One execution of a kernel's meaning.
class Execution {
public:
  Execution(KernelOp meaning, Tensors inputs) : meaning(meaning) {
    mlir::Block &body = meaning.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), inputs)) {
      found[argument] = lookAt(input);
      values[argument] = std::move(input);
    }
  }

  mlir::LogicalResult run(Interpreter &interpreter) {
    for (mlir::Operation &op : meaning.getBody().front().without_terminator()) {
      auto interpretable = llvm::dyn_cast<Interpretable>(op);
      if (!interpretable)
        return mlir::failure();
      Tensors operands;
      for (mlir::Value operand : op.getOperands())
        operands.push_back(values.at(operand));
      mlir::FailureOr<Tensors> results = interpretable.evaluate(operands, interpreter);
      if (mlir::failed(results))
        return mlir::failure();
      for (auto [value, tensor] : llvm::zip(op.getResults(), *results))
        keep(value, std::move(tensor));
    }
    return mlir::success();
  }

  /// The op that made the first value that is not finite of those behind the failure; null where
  /// nothing is.
  mlir::Operation *origin() {
    llvm::SetVector<mlir::Operation *> open;
    auto follow = [&](mlir::Value value) {
      if (mlir::Operation *op = value.getDefiningOp(); op && found.lookup(value).any())
        open.insert(op);
    };
    mlir::Block &body = meaning.getBody().front();
    for (mlir::Value yielded : body.getTerminator()->getOperands())
      follow(yielded);
    for (auto asked : body.getOps<IsFiniteOp>())
      follow(asked.getInput());
    mlir::Operation *first = nullptr;
    for (size_t i = 0; i < open.size(); ++i) {
      mlir::Operation *op = open[i];
      llvm::SmallVector<mlir::Value> behind = followed(op);
      if (behind.empty() && (!first || op->isBeforeInBlock(first)))
        first = op;
      llvm::for_each(behind, follow);
    }
    return first;
  }

  /// "log of -0.25 gives nan, at [3, 1]".
  std::string describe(mlir::Operation *op) const {
    mlir::Value result =
        *llvm::find_if(op->getResults(), [&](mlir::Value one) { return found.lookup(one).any(); });
    const Tensor &tensor = values.at(result);
    size_t element = found.lookup(result).first;
    std::vector<std::string> operands;
    for (mlir::Value operand : op->getOperands()) {
      const Tensor &read = values.at(operand);
      if (read.shape == tensor.shape)
        operands.push_back(concat(read.values[element]));
      else if (read.values.size() == 1)
        operands.push_back(concat(read.values[0]));
    }
    bool all = operands.size() == op->getNumOperands() && !operands.empty();
    std::vector<int64_t> index(tensor.shape.size());
    for (size_t d = index.size(), left = element; d-- > 0; left /= tensor.shape[d])
      index[d] = left % tensor.shape[d];
    return concat(op->getName().stripDialect().str(), all ? " of " + join(operands) : "", " gives ",
                  tensor.values[element], index.empty() ? "" : ", at " + shapeText(index));
  }

private:
  /// The operands that are followed from an op.
  llvm::SmallVector<mlir::Value> followed(mlir::Operation *op) {
    llvm::SmallVector<mlir::Value> nans, accidents;
    for (mlir::Value operand : op->getOperands()) {
      Found read = found.lookup(operand);
      // What the kernel reads so is no op's of this kernel.
      if (!operand.getDefiningOp())
        continue;
      if (read.nan)
        nans.push_back(operand);
      if (read.accident)
        accidents.push_back(operand);
    }
    return nans.empty() ? accidents : nans;
  }

  /// A result, as its type holds it.
  void keep(mlir::Value value, Tensor tensor) {
    mlir::Type element = tensorType(value).getElementType();
    if (llvm::isa<mlir::FloatType>(element)) {
      for (double &number : tensor.values)
        number = rounded(*elementOf(element), number);
      Found &result = found[value] = lookAt(tensor);
      mlir::Operation *op = value.getDefiningOp();
      bool read = false;
      for (mlir::Value operand : op->getOperands()) {
        read |= found.lookup(operand).any();
        result.accident |= found.lookup(operand).accident;
      }
      result.accident |= !read && !llvm::isa<ConstantOp>(op);
      result.accident &= result.infinite;
    }
    values[value] = std::move(tensor);
  }

  KernelOp meaning;
  llvm::DenseMap<mlir::Value, Tensor> values;
  llvm::DenseMap<mlir::Value, Found> found;
};

class FindOps : public OpFinder {
public:
  FindOps(const Program &program, mlir::ModuleOp plan)
      : program(program), plan(plan), memory(plan) {
    mlir::DialectRegistry registry;
    registerReferenceInterpreter(registry);
    registerPlanInterpreter(registry);
    plan.getContext()->appendDialectRegistry(registry);
    for (auto kernel : plan.getOps<plan::KernelOp>())
      kernels[kernel.getSymName()] = kernel;
    for (auto entry : plan.getOps<plan::EntryOp>())
      llvm::append_range(entries.emplace_back(), entry.actions());
  }

  std::optional<FoundOp> find(const ActionPlace &place) override {
    mlir::Operation *action = entries[place.entry][place.action];
    auto launch = llvm::dyn_cast<plan::LaunchOp>(action);
    if (!launch)
      return std::nullopt;
    KernelOp meaning = kernels.lookup(launch.getKernel()).meaning();
    if (elementsOf(meaning) > mostElements)
      return std::nullopt;
    memory.setRounds(action, place.round);
    program.readArena(0, memory.bytes);
    Tensors inputs;
    for (auto [i, input] : llvm::enumerate(meaning.getInputs()))
      inputs.push_back(memory.load(launch.getOperands()[i], input.getType()));
    // What it cannot execute is said by nobody: the lines of the action are.
    mlir::ScopedDiagnosticHandler quiet(plan.getContext(),
                                        [](mlir::Diagnostic &) { return mlir::success(); });
    Execution execution(meaning, std::move(inputs));
    if (mlir::failed(execution.run(interpreter)))
      return std::nullopt;
    mlir::Operation *origin = execution.origin();
    if (!origin)
      return std::nullopt;
    mlir::Block &body = meaning.getBody().front();
    llvm::SmallVector<mlir::Location> lines =
        locationsOfAll(launch.getLoc(), body.getOperations().size() - 1);
    mlir::FileLineColLoc line =
        modelLine(lines[std::distance(body.begin(), origin->getIterator())]);
    return FoundOp{
        origin->getName().stripDialect().str(),
        line ? concat(line.getFilename().str(), ":", line.getLine(), ":", line.getColumn()) : "",
        execution.describe(origin)};
  }

private:
  static int64_t elementsOf(KernelOp meaning) {
    int64_t elements = 0;
    auto add = [&](mlir::Value value) { elements += tensorType(value).getNumElements(); };
    mlir::Block &body = meaning.getBody().front();
    llvm::for_each(body.getArguments(), add);
    for (mlir::Operation &op : body.without_terminator())
      llvm::for_each(op.getResults(), add);
    return elements;
  }

  const Program &program;
  mlir::ModuleOp plan;
  ArenaMemory memory;
  Interpreter interpreter;
  llvm::StringMap<plan::KernelOp> kernels;
  std::vector<std::vector<mlir::Operation *>> entries; ///< actions, numbered as in the artifact
};

} // namespace

std::unique_ptr<OpFinder> findOps(const Program &program, mlir::ModuleOp plan) {
  return std::make_unique<FindOps>(program, plan);
}

} // namespace weir
