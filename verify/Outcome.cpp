//===- Outcome.cpp - What a program computes ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Outcome.h"
#include "ir/reference/PlanInterpreter.h"
#include "verify/Compare.h"

namespace weir {
namespace {

bool isExact(mlir::Type tensor) {
  return !llvm::cast<mlir::RankedTensorType>(tensor).getElementType().isF32();
}

ResultKind kindOf(Role role) {
  switch (role) {
  case Role::parameter:
    return ResultKind::parameter;
  case Role::optimizer:
    return ResultKind::optimizer;
  case Role::state:
  case Role::run:
    return ResultKind::state;
  }
  llvm_unreachable("a role");
}

} // namespace

Results::Results(mlir::ModuleOp module) {
  for (auto variable : module.getOps<VariableOp>())
    variables.push_back({variable.getSymName().str(), kindOf(variable.getRole()),
                         isExact(variable.getType()), variable.getLoc()});
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    Entry entry{function.getSymName().str(), {}};
    auto returned = function.getBody().front().getTerminator()->getOperands();
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto text = [&](llvm::StringRef attribute) {
        auto value = function.getResultAttrOfType<mlir::StringAttr>(i, attribute);
        return value ? value.str() : std::string();
      };
      std::string name = text("weir.output"), part = text("weir.part");
      bool gradient = llvm::StringRef(name).starts_with("gradient/");
      if (part == "sum" || part == "count")
        name += "." + part;
      entry.outputs.push_back({name, gradient ? ResultKind::gradient : ResultKind::output,
                               isExact(function.getResultTypes()[i]), returned[i].getLoc()});
    }
    entries.push_back(std::move(entry));
  }
}

mlir::FailureOr<Outcome> Results::collect(const Feed &feed, RunEntry run) const {
  Outcome outcome;
  for (const Entry &entry : entries) {
    std::map<std::string, Tensor> after = feed.variables;
    mlir::FailureOr<Tensors> outputs = run(entry.name, feed.inputs.at(entry.name), after);
    if (mlir::failed(outputs))
      return mlir::failure();
    std::vector<Result> &results = outcome[entry.name];
    for (auto [described, value] : llvm::zip_equal(entry.outputs, *outputs))
      results.push_back(
          {described.name, described.kind, described.exact, value, Tensor(), described.loc});
    for (const Described &variable : variables)
      results.push_back({variable.name, variable.kind, variable.exact, after.at(variable.name),
                         feed.variables.at(variable.name), variable.loc});
  }
  return outcome;
}

mlir::FailureOr<Outcome> interpret(mlir::ModuleOp module, const Feed &feed,
                                   Interpreter &interpreter) {
  return Results(module).collect(
      feed, [&](llvm::StringRef name, const Tensors &inputs,
                std::map<std::string, Tensor> &variables) -> mlir::FailureOr<Tensors> {
        interpreter.variables = std::move(variables);
        auto outputs =
            interpreter.run(module.lookupSymbol<mlir::func::FuncOp>(name), inputs);
        variables = std::move(interpreter.variables);
        return outputs;
      });
}

mlir::FailureOr<Outcome> interpretPlan(mlir::ModuleOp plan, const Results &results,
                                       const Feed &feed, bool offsets) {
  return results.collect(
      feed, [&](llvm::StringRef name, const Tensors &inputs,
                std::map<std::string, Tensor> &variables) -> mlir::FailureOr<Tensors> {
        CellMemory memory(plan, offsets);
        Interpreter interpreter;
        PlanInterpreter machine(plan, memory, interpreter);
        return runEntry(machine, memory, plan.lookupSymbol<plan::EntryOp>(name), inputs, variables);
      });
}

std::vector<Disagreement> disagreements(const Outcome &actual, const Outcome &truth, bool inF32,
                                        double &largest) {
  std::vector<Disagreement> found;
  for (const auto &[entry, results] : truth) {
    std::map<ResultKind, double> norms;
    auto changed = [](const Result &result, const Tensor &value) {
      Tensor change = value;
      for (size_t i = 0; i < change.values.size(); ++i)
        change.values[i] -= result.before.values[i];
      return change;
    };
    for (const Result &result : results)
      norms[result.kind] = std::max(norms[result.kind], norm(result.value));
    for (auto [one, should] : llvm::zip_equal(actual.at(entry), results)) {
      double tolerance = should.exact ? 0 : inF32 ? gradientTolerance : passTolerance;
      Difference difference;
      // What stays nearly the same says little: the change itself is compared, to what rounding of
      // the new value leaves of it.
      bool update = inF32 && !should.exact && !should.before.values.empty();
      if (update) {
        Tensor change = changed(should, should.value);
        difference = compare(changed(should, one.value), change, 1e-3);
        difference.agrees |= difference.absolute <= 2e-7 * norm(should.value);
        largest = std::max(largest, difference.absolute / std::max(norm(should.value), 1e-30));
      } else {
        double among = should.kind == ResultKind::gradient || !inF32 ? norms[should.kind] : 0;
        difference = compare(one.value, should.value, tolerance, should.exact ? 0 : among);
        largest = std::max(largest, difference.relative);
      }
      if (difference.agrees)
        continue;
      bool sameShape = one.value.shape == should.value.shape;
      found.push_back({entry, should.name, should.loc, difference.relative, difference.worstIndex,
                       should.value.values[difference.worstIndex],
                       sameShape ? one.value.values[difference.worstIndex] : NAN});
    }
  }
  return found;
}

} // namespace weir
