//===- GradientCheck.cpp - Three proofs of a gradient ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/autodiff/GradientCheck.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/reduction/Reduction.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "verify/Compare.h"
#include "verify/Compiled.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdlib>
#include <random>

namespace weir::test {
namespace {

/// Between two computations in f64.
constexpr double exact = 1e-9;

/// A source's derivative along a direction.
struct Directional {
  unsigned source;
  Tensor direction;
  double slope;
  double tolerance; ///< relative to the products that the inner product sums
};

struct Checked {
  std::string name;
  unsigned linear = 0, sources = 0;
  double compiledTolerance = 0;
  Tensors inputs;
  Tensors differences, gradients; ///< results of the function before and after autodiff
  std::vector<Directional> directionals;
};

bool isFloat(mlir::Type type) {
  return llvm::cast<mlir::RankedTensorType>(type).getElementType().isF32();
}

class Check {
public:
  Check(mlir::ModuleOp module, const Tampering &tampering) : module(module), tampering(tampering) {}

  std::vector<std::string> run(llvm::ArrayRef<GradientSubject> subjects) {
    chooseVariables();
    for (const GradientSubject &subject : subjects)
      prepare(subject);
    if (mlir::failed(mlir::verify(module)))
      fault("the program with its gradients", "does not verify");
    if (faults.empty())
      differentiate();
    mlir::OwningOpRef<mlir::ModuleOp> whole = module.clone();
    if (faults.empty())
      checkAutodiff();
    if (faults.empty())
      checkCompiled(*whole);
    return std::move(faults);
  }

  bool takeGradients(llvm::ArrayRef<GradientSubject> subjects) {
    for (const GradientSubject &subject : subjects)
      prepare(subject);
    return mlir::succeeded(runPasses(module, {"differentiate"}));
  }

private:
  mlir::func::FuncOp functionOf(const Checked &one) {
    return module.lookupSymbol<mlir::func::FuncOp>(one.name);
  }
  void fault(const std::string &where, const std::string &what) {
    faults.push_back(where + ": " + what);
  }

  /// What f32 holds, so that the compiled program runs on the same numbers.
  Tensor randomTensor(mlir::Type type, double low, double high) {
    Tensor result(llvm::cast<mlir::RankedTensorType>(type).getShape());
    std::uniform_real_distribution<double> draw(low, high);
    for (double &value : result.values)
      value = isFloat(type) ? static_cast<float>(draw(random)) : std::floor(draw(random));
    return result;
  }

  void chooseVariables() {
    module.walk([&](VariableOp variable) {
      bool parameter = variable.getRole() == Role::parameter;
      variables[variable.getSymName().str()] =
          variable.getRole() == Role::run
              ? Tensor({}, 3)
              : randomTensor(variable.getType(), parameter ? -1 : 0.5, parameter ? 1 : 1.5);
    });
  }

  /// Makes the function return the gradients of its weighted results, and chooses its inputs.
  void prepare(const GradientSubject &subject) {
    Checked one;
    one.name = subject.name;
    one.linear = subject.linear;
    one.compiledTolerance = subject.compiledTolerance;
    mlir::func::FuncOp function = functionOf(one);
    mlir::Block &body = function.getBody().front();
    llvm::SmallVector<mlir::Value> sources;
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
      mlir::Type type = argument.getType();
      auto bound = [&](const char *name, double fallback) {
        auto number = function.getArgAttrOfType<mlir::FloatAttr>(i, name);
        return number ? number.getValueAsDouble() : fallback;
      };
      if (isFloat(type))
        sources.push_back(argument);
      auto limit = function.getArgAttrOfType<mlir::IntegerAttr>(i, "weir.limit");
      one.inputs.push_back(randomTensor(type, bound("test.low", isFloat(type) ? -2 : 0),
                                        limit ? limit.getInt() : bound("test.high", 2)));
    }
    function.walk([&](ReadOp read) {
      if (isFloat(read.getType()))
        sources.push_back(read);
    });
    one.sources = sources.size();

    mlir::Operation *end = body.getTerminator();
    mlir::OpBuilder builder(end);
    mlir::Location location = function.getLoc();
    mlir::Value loss;
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Value result : llvm::SmallVector<mlir::Value>(end->getOperands())) {
      if (!isFloat(result.getType()))
        continue;
      results.push_back(result);
      mlir::Value weight = body.addArgument(result.getType(), location);
      one.inputs.push_back(randomTensor(result.getType(), -1, 1));
      mlir::Value term = MulOp::create(builder, location, result.getType(), result, weight, {});
      auto axes = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(term).size()));
      if (!axes.empty())
        term = ReduceOp::create(builder, location, term, Reduction::sum, axes);
      loss = loss ? AddOp::create(builder, location, term.getType(), loss, term, {}) : term;
    }
    auto gradient = GradientOp::create(builder, location, loss, sources);
    end->setOperands(gradient.getResults());
    end->insertOperands(one.sources, results);
    llvm::SmallVector<mlir::DictionaryAttr> attributes;
    function.getAllArgAttrs(attributes);
    attributes.resize(body.getNumArguments(), builder.getDictionaryAttr({}));
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    function.setFunctionType(
        builder.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
    function.setAllArgAttrs(attributes);
    checked.push_back(std::move(one));
  }

  mlir::FailureOr<Tensors> interpret(const Checked &one, Interpreter &interpreter) {
    interpreter.variables = variables;
    return interpreter.run(functionOf(one), one.inputs);
  }

  /// Differences element by element and along random directions, before any pass.
  void differentiate() {
    for (Checked &one : checked) {
      Interpreter slow, along;
      auto differences = interpret(one, slow);
      if (mlir::failed(differences))
        return fault(one.name, "the interpreter cannot run it");
      one.differences = std::move(*differences);
      for (const Tensor &tensor : one.differences)
        for (double value : tensor.values)
          if (!std::isfinite(value))
            return fault(one.name, "the inputs of the case give a number that is not finite");
      along.gradients = [&](GradientOp op, Interpreter &running) -> mlir::FailureOr<Tensors> {
        takeDirections(one, op, running);
        Tensors none;
        for (mlir::Value source : op.getSources())
          none.emplace_back(shapeOf(source));
        return none;
      };
      (void)interpret(one, along);
    }
  }

  void takeDirections(Checked &one, GradientOp op, Interpreter &running) {
    for (auto [i, source] : llvm::enumerate(op.getSources()))
      for (int repetition = 0; repetition < 2; ++repetition) {
        Tensor direction = randomTensor(source.getType(), -1, 1);
        auto slope = directionalDerivative(op, Along{unsigned(i), direction}, running);
        if (mlir::failed(slope))
          return fault(one.name, "the interpreter cannot run it along a direction");
        one.directionals.push_back({unsigned(i), direction, *slope, 1e-6});
        if (!(one.linear >> i & 1))
          continue;
        // A linear function needs no small step: rounding is all that is left.
        double losses[3];
        auto path = gradientPath(op, source);
        for (int step = 0; step < 3; ++step) {
          Tensor moved = running.valueOf(source);
          for (auto [value, along] : llvm::zip_equal(moved.values, direction.values))
            value += step * along;
          auto loss = running.wouldBe(op.getLoss(), {{source, moved}}, path);
          losses[step] = mlir::failed(loss) ? NAN : loss->values[0];
        }
        double bend = losses[2] - 2 * losses[1] + losses[0];
        double size = std::abs(losses[0]) + std::abs(losses[1]) + std::abs(losses[2]);
        if (!(std::abs(bend) <= 1e-12 * (1 + size)))
          fault(one.name, "is not linear in source " + std::to_string(i) + ", as the case says");
        one.directionals.push_back({unsigned(i), direction, losses[1] - losses[0], 1e-9});
      }
  }

  mlir::LogicalResult runPasses(mlir::ModuleOp on, llvm::ArrayRef<llvm::StringRef> passGroupNames) {
    mlir::PassManager manager(on.getContext());
    for (const PassGroup &group : passGroups())
      if (llvm::is_contained(passGroupNames, group.name))
        group.add(manager, {.without = {"simplify-forward"}});
    return manager.run(on);
  }

  static std::string describe(const Checked &one, unsigned result) {
    return result < one.sources ? "the gradient of source " + std::to_string(result)
                                : "result " + std::to_string(result - one.sources);
  }

  /// Compares gradients with their truth. Results that are sums may cancel, so they are compared
  /// with the largest gradient too.
  void expectEqual(const Checked &one, const Tensors &actual, const Tensors &truth,
                   double gradientTolerance, double resultTolerance, const std::string &when) {
    double largest = 0;
    for (unsigned i = 0; i < one.sources; ++i)
      largest = std::max(largest, norm(truth[i]));
    for (size_t i = 0; i < truth.size(); ++i) {
      bool result = i >= one.sources;
      auto difference = compare(actual[i], truth[i], result ? resultTolerance : gradientTolerance,
                                result ? 1e3 * largest : largest);
      auto missing = llvm::count_if(actual[i].values, [](double x) { return std::isnan(x); });
      if (missing != 0)
        fault(one.name, describe(one, i) + " has " + std::to_string(missing) + " NaN of " +
                            std::to_string(actual[i].values.size()) + " elements " + when);
      else if (!difference.agrees)
        fault(one.name, describe(one, i) + " differs by " +
                            llvm::formatv("{0:e}", difference.relative).str() + " " + when +
                            ", most at element " + std::to_string(difference.worstIndex) + ": " +
                            std::to_string(actual[i].values[difference.worstIndex]) +
                            " instead of " +
                            std::to_string(truth[i].values[difference.worstIndex]));
    }
  }

  void checkAutodiff() {
    if (mlir::failed(runPasses(module, {"differentiate"})))
      return fault("autodiff", "failed");
    if (tampering.afterAutodiff)
      tampering.afterAutodiff(module);
    for (Checked &one : checked) {
      Interpreter interpreter;
      auto gradients = interpret(one, interpreter);
      if (mlir::failed(gradients))
        return fault(one.name, "the interpreter cannot run its gradients");
      one.gradients = std::move(*gradients);
      expectEqual(one, one.gradients, one.differences, gradientTolerance, exact,
                  "from differences");
      for (const Directional &along : one.directionals) {
        double inner = 0, squares = 0, directionSquares = 0;
        for (auto [v, g] :
             llvm::zip_equal(along.direction.values, one.gradients[along.source].values)) {
          inner += v * g;
          squares += g * g;
          directionSquares += v * v;
        }
        double scale = std::sqrt(squares * directionSquares) + 1e-3;
        if (!(std::abs(inner - along.slope) <= along.tolerance * scale))
          fault(one.name, llvm::formatv("<J v, u> = {0:e}, but <v, J^T u> = {1:e}, for source {2}",
                                        along.slope, inner, along.source)
                              .str());
      }
    }
    if (mlir::failed(runPasses(module, {"simplify"})))
      return fault("simplify", "failed");
    for (Checked &one : checked) {
      Interpreter interpreter;
      auto simplified = interpret(one, interpreter);
      if (mlir::failed(simplified))
        return fault(one.name, "the interpreter cannot run it when simplified");
      expectEqual(one, *simplified, one.gradients, exact, exact, "after simplification");
    }
  }

  void checkCompiled(mlir::ModuleOp whole) {
    if (tampering.beforeCompile)
      tampering.beforeCompile(whole);
    completeProgram(whole);
    auto artifact = compileModule(whole, "cpu");
    if (mlir::failed(artifact))
      return fault("the compiler", "failed");
    CompiledProgram program(std::move(*artifact));
    program.setVariables(variables);
    for (const Checked &one : checked)
      expectEqual(one, program.run(one.name, one.inputs), one.gradients, one.compiledTolerance,
                  gradientTolerance, "when compiled");
  }

  mlir::ModuleOp module;
  const Tampering &tampering;
  std::mt19937_64 random{7};
  std::map<std::string, Tensor> variables;
  std::vector<Checked> checked;
  std::vector<std::string> faults;
};

} // namespace

std::vector<std::string> checkGradients(mlir::ModuleOp module,
                                        llvm::ArrayRef<GradientSubject> subjects,
                                        const Tampering &tampering) {
  return Check(module, tampering).run(subjects);
}

bool takeGradients(mlir::ModuleOp module, llvm::ArrayRef<GradientSubject> subjects) {
  return Check(module, {}).takeGradients(subjects);
}

void completeProgram(mlir::ModuleOp program) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(program.getBody());
  for (const char *number : {"weir.batch", "weir.accumulate", "weir.steps"})
    if (!program->hasAttr(number))
      program->setAttr(number, builder.getI64IntegerAttr(1));
  for (const char *name : {"init", "step"}) {
    if (program.lookupSymbol(name))
      continue;
    mlir::OpBuilder::InsertionGuard guard(builder);
    auto entry = mlir::func::FuncOp::create(builder, program.getLoc(), name,
                                            builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock());
    mlir::func::ReturnOp::create(builder, program.getLoc());
  }
}

Tensors variedInputs(mlir::func::FuncOp function) {
  Tensors inputs;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    inputs.emplace_back(shapeOf(argument));
    for (auto [j, value] : llvm::enumerate(inputs.back().values))
      value = std::sin(double(7 * i + j + 1));
  }
  return inputs;
}

std::string lines(const std::vector<std::string> &faults) {
  std::string text;
  for (const std::string &fault : faults)
    text += fault + "\n";
  return text;
}

void prepareContext(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<WeirDialect, mlir::func::FuncDialect>();
  registerReferenceInterpreter(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
}

} // namespace weir::test
