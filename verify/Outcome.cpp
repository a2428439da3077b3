//===- Outcome.cpp - The results of a program -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Outcome.h"
#include "ir/plan/PlanOps.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Variable.h"
#include "verify/Compare.h"
#include "verify/Gradients.h"
#include "verify/Rounding.h"
#include <cmath>

namespace weir {
namespace {

bool isExact(mlir::Type tensor) {
  return !llvm::isa<mlir::FloatType>(llvm::cast<mlir::RankedTensorType>(tensor).getElementType());
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
      std::string name = text(outputAttrName), part = text(partAttrName);
      bool gradient = llvm::StringRef(name).starts_with(gradientPrefix);
      if (part == "sum" || part == "count")
        name += "." + part;
      entry.outputs.push_back({name, gradient ? ResultKind::gradient : ResultKind::output,
                               isExact(function.getResultTypes()[i]), returned[i].getLoc()});
    }
    entries.push_back(std::move(entry));
  }
}

mlir::FailureOr<Outcome> Results::collect(const RandomInputs &feed, RunEntry run,
                                          Wanted wanted) const {
  Outcome outcome;
  for (const Entry &entry : entries) {
    if (wanted && !wanted(entry.name))
      continue;
    std::map<std::string, Tensor> before = feed.variablesFor(entry.name), after = before;
    mlir::FailureOr<Tensors> outputs = run(entry.name, feed.inputs.at(entry.name), after);
    if (mlir::failed(outputs))
      return mlir::failure();
    std::vector<Result> &results = outcome[entry.name];
    for (auto [described, value] : llvm::zip_equal(entry.outputs, *outputs))
      results.push_back(
          {described.name, described.kind, described.exact, value, Tensor(), described.loc});
    for (const Described &variable : variables)
      results.push_back({variable.name, variable.kind, variable.exact, after.at(variable.name),
                         before.at(variable.name), variable.loc});
  }
  return outcome;
}

mlir::FailureOr<Outcome> interpret(mlir::ModuleOp module, const RandomInputs &feed,
                                   Interpreter &interpreter, Wanted wanted) {
  auto run = [&](llvm::StringRef name, const Tensors &inputs,
                 std::map<std::string, Tensor> &variables) -> mlir::FailureOr<Tensors> {
    interpreter.variables = std::move(variables);
    auto outputs = interpreter.run(module.lookupSymbol<mlir::func::FuncOp>(name), inputs);
    variables = std::move(interpreter.variables);
    return outputs;
  };
  return Results(module).collect(feed, run, wanted);
}

mlir::FailureOr<Outcome> interpretPlan(mlir::ModuleOp plan, const Results &results,
                                       const RandomInputs &feed, bool offsets, Wanted wanted) {
  auto run = [&](llvm::StringRef name, const Tensors &inputs,
                 std::map<std::string, Tensor> &variables) -> mlir::FailureOr<Tensors> {
    CellMemory memory(plan, offsets);
    Interpreter interpreter;
    PlanInterpreter machine(plan, memory, interpreter);
    return runEntry(machine, memory, plan.lookupSymbol<plan::EntryOp>(name), inputs, variables);
  };
  return results.collect(feed, run, [&](llvm::StringRef entry) {
    return plan.lookupSymbol<plan::EntryOp>(entry) && (!wanted || wanted(entry));
  });
}

mlir::FailureOr<Outcome> interpretRanks(RankInterpreter &ranks, const Results &results,
                                        const RandomInputs &feed, bool offsets, Wanted wanted) {
  auto run = [&](llvm::StringRef name, const Tensors &inputs,
                 std::map<std::string, Tensor> &variables) {
    ranks.variables = std::move(variables);
    auto outputs = ranks.run(name, inputs, offsets);
    variables = std::move(ranks.variables);
    return outputs;
  };
  return results.collect(feed, run, [&](llvm::StringRef entry) {
    return mlir::SymbolTable::lookupSymbolIn(ranks.program(0), entry) && (!wanted || wanted(entry));
  });
}

namespace {

/// What no result may be off by.
Outcome nothingOf(const Outcome &truth) {
  Outcome allowance = truth;
  for (auto &[entry, results] : allowance)
    for (Result &result : results)
      std::fill(result.value.values.begin(), result.value.values.end(), 0.0);
  return allowance;
}

/// Raises an allowance to what `allowed` makes of each element of another outcome and its truth.
void raise(Outcome &allowance, const Outcome &other, const Outcome &truth,
           llvm::function_ref<double(double other, double truth)> allowed) {
  for (auto &[entry, results] : allowance)
    for (auto [result, moved, exact] : llvm::zip_equal(results, other.at(entry), truth.at(entry)))
      for (auto [value, one, should] :
           llvm::zip_equal(result.value.values, moved.value.values, exact.value.values))
        value = std::max(value, allowed(one, should));
}

} // namespace

void raiseTo(Outcome &allowance, const Outcome &other) {
  raise(allowance, other, other, [](double value, double) { return value; });
}

void allowNeighbours(Outcome &allowance, const Outcome &actual, const Outcome &truth, double step) {
  constexpr double same = 1e-4; // of what is no neighbour
  for (const auto &[entry, results] : truth) {
    auto ran = actual.find(entry);
    if (ran == actual.end())
      continue;
    for (auto [allowed, is, should] : llvm::zip_equal(allowance.at(entry), ran->second, results)) {
      if (is.value.shape != should.value.shape)
        continue;
      std::vector<std::pair<size_t, double>> moved;
      for (auto [i, value, truth] : llvm::zip_equal(llvm::seq(should.value.values.size()),
                                                    is.value.values, should.value.values))
        if (double off = std::abs(value - truth), size = std::abs(truth);
            off > same * size && off <= step * size)
          moved.emplace_back(i, off);
      if (moved.size() > std::max<size_t>(1, should.value.values.size() / 100))
        continue;
      for (auto [i, off] : moved)
        allowed.value.values[i] = std::max(allowed.value.values[i], off);
    }
  }
}

mlir::FailureOr<Outcome> roundingAllowance(mlir::ModuleOp module, const RandomInputs &feed,
                                           const Outcome &truth) {
  constexpr int trials = 7;
  Outcome allowance = nothingOf(truth);
  for (int trial = 0; trial < trials; ++trial) {
    Interpreter interpreter;
    roundLikeF32(interpreter, trial);
    mlir::FailureOr<Outcome> rounded =
        interpret(module, feed, interpreter,
                  [&](llvm::StringRef entry) { return truth.contains(entry.str()); });
    if (mlir::failed(rounded))
      return mlir::failure();
    raise(allowance, *rounded, truth, allowanceFrom);
  }
  return allowance;
}

mlir::FailureOr<Outcome> gradientAllowance(mlir::ModuleOp differentiated, const RandomInputs &feed,
                                           const Outcome &truth, double tolerance) {
  constexpr double slack = 8;
  Outcome allowance = nothingOf(truth);
  for (auto &[entry, results] : allowance) {
    mlir::FailureOr<std::vector<Tensors>> gradients = gradientsOf(differentiated, entry, feed);
    if (mlir::failed(gradients))
      return mlir::failure();
    if (gradients->empty())
      continue;
    // Each element up and down: what saturates, as a division by the own size, does so both ways.
    for (double side : {-1, 1}) {
      size_t rounds = 0;
      Interpreter interpreter;
      moveGradients(interpreter, [&](unsigned number, Tensor &gradient) {
        rounds += number == 0;
        const Tensors &all = (*gradients)[rounds - 1];
        double largest = 0;
        for (const Tensor &one : all)
          largest = std::max(largest, norm(one));
        double most = slack * tolerance * std::max(norm(all[number]), largest * 1e-3);
        double each = side * most / std::sqrt(std::max<size_t>(1, gradient.values.size()));
        Tensor signs = randomDirection(gradient.shape, rounds + number);
        for (auto [value, sign] : llvm::zip_equal(gradient.values, signs.values))
          value += each * sign;
      });
      mlir::FailureOr<Outcome> moved =
          interpret(differentiated, feed, interpreter,
                    [&, name = entry](llvm::StringRef other) { return other == name; });
      if (mlir::failed(moved))
        return mlir::failure();
      Outcome here{{entry, std::move(results)}};
      raise(here, *moved, truth, [](double other, double should) {
        return std::isfinite(other) && std::isfinite(should) ? std::abs(other - should) : 0;
      });
      results = std::move(here.at(entry));
    }
    // The gradients themselves have a tolerance of their own.
    for (Result &result : results)
      if (result.before.values.empty())
        std::fill(result.value.values.begin(), result.value.values.end(), 0.0);
  }
  return allowance;
}

namespace {

/// How much a variable changed.
Tensor changeOf(const Result &should, Tensor after) {
  for (size_t i = 0; i < after.values.size(); ++i)
    after.values[i] -= should.before.values[i];
  return after;
}

/// Moves each element towards the truth, by what it may be off.
Tensor forgiven(Tensor actual, const Tensor &truth, const Tensor &allowance) {
  for (size_t i = 0; i < actual.values.size(); ++i) {
    double &value = actual.values[i], should = truth.values[i], allowed = allowance.values[i];
    if (!std::isfinite(value) || std::abs(value - should) <= allowed)
      value = std::isfinite(value) || std::isinf(allowed) ? should : value;
    else
      value += value > should ? -allowed : allowed;
  }
  return actual;
}

} // namespace

std::vector<Disagreement> disagreements(const Outcome &actual, const Outcome &truth, bool inF32,
                                        double &largest, const Outcome *allowance, Wanted wanted) {
  std::vector<Disagreement> found;
  for (const auto &[entry, results] : truth) {
    if (wanted && !wanted(entry))
      continue;
    auto ran = actual.find(entry);
    if (ran == actual.end()) {
      found.push_back({entry, "", ResultKind::output, results.front().loc,
                       std::numeric_limits<double>::infinity(), 0, 0, NAN});
      continue;
    }
    // Of all results of a kind the largest, and of all variables of a kind the largest change.
    std::map<ResultKind, double> norms, changes;
    auto raise = [](double &largest, double value) {
      if (std::isfinite(value))
        largest = std::max(largest, value);
    };
    for (const Result &result : results) {
      raise(norms[result.kind], norm(result.value));
      if (!result.before.values.empty())
        raise(changes[result.kind], norm(changeOf(result, result.value)));
    }
    for (auto [i, should] : llvm::enumerate(results)) {
      const Result &one = ran->second[i];
      bool sameShape = one.value.shape == should.value.shape;
      Tensor value = one.value;
      if (allowance && sameShape)
        value = forgiven(value, should.value, allowance->at(entry)[i].value);
      Difference difference;
      if (!should.exact && sameShape && !should.before.values.empty()) {
        Tensor change = changeOf(should, should.value);
        difference = compare(changeOf(should, value), change,
                             inF32 ? updateTolerance : passTolerance, changes[should.kind]);
        // What a step leaves alone, as a skipped one does all, keeps its bits.
        bool kept =
            llvm::all_of(change.values, [](double by) { return by == 0 || std::isnan(by); });
        double rounding = kept ? 0 : inF32 ? updateRounding : 1e-15;
        if (kept)
          difference = compare(value, should.value, 0);
        difference.agrees |= difference.absolute <= rounding * norm(should.value);
        if (difference.agrees) // by the one or the other
          largest = std::max(largest,
                             std::min(difference.relative,
                                      difference.absolute / std::max(norm(should.value), 1e-30)));
      } else {
        double tolerance = should.exact ? 0 : inF32 ? gradientTolerance : passTolerance;
        bool amongOthers = !should.exact && (should.kind == ResultKind::gradient || !inF32);
        difference = compare(value, should.value, tolerance, amongOthers ? norms[should.kind] : 0);
        if (difference.agrees)
          largest = std::max(largest, difference.relative);
      }
      // Zero in mathematics: what f64 leaves of numbers around 1.
      difference.agrees |= !inF32 && !should.exact && difference.absolute <= 1e-13;
      if (!difference.agrees)
        found.push_back({entry, should.name, should.kind, should.loc, difference.relative,
                         difference.worstIndex, should.value.values[difference.worstIndex],
                         sameShape ? one.value.values[difference.worstIndex] : NAN});
    }
  }
  return found;
}

} // namespace weir
