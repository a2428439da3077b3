//===- Explain.cpp - Why an op computes in a type -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/Explain.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "ir/weir/structure/Structure.h"
#include <map>

using namespace mlir;

namespace weir {
namespace {

Type elementOf(Value value) { return tensorType(value).getElementType(); }
std::string textOf(Type type) { return nameOf(*weir::elementOf(type)); }

/// The type in which a value is stored: if all its users round it, the rounded type.
Type storedAs(Value value) {
  Type stored;
  for (Operation *user : value.getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    Type to = cast ? elementOf(cast.getResult()) : Type();
    if (!to || !isLow(to) || (stored && stored != to))
      return elementOf(value);
    stored = to;
  }
  return stored ? stored : elementOf(value);
}

class Explainer {
public:
  Explainer(func::FuncOp entry, const Decisions &decisions)
      : module(entry->getParentOfType<ModuleOp>()), decisions(decisions) {}

  /// The record for one op; nothing for an op that is not reported.
  std::optional<PrecisionRecord> choiceOf(Operation *op) {
    if (op->getNumResults() == 0 || !isa<FloatType>(elementOf(op->getResult(0))) ||
        decisions.scaled.work.contains(op))
      return std::nullopt;
    PrecisionRecord choice{op->getLoc(),
                           op->getName().stripDialect().str(),
                           1,
                           Float32Type::get(op->getContext()),
                           storedAs(op->getResult(0)),
                           ""};
    choice.why = reasonOf(op, choice);
    return choice.why.empty() ? std::nullopt : std::optional(std::move(choice));
  }

private:
  std::string reasonOf(Operation *op, PrecisionRecord &choice) {
    if (auto read = dyn_cast<ReadOp>(op))
      return reasonOfVariable(read, choice);
    if (auto cast = dyn_cast<CastOp>(op))
      return reasonOfCast(cast, choice);
    auto castable = dyn_cast<Castable>(op);
    if (!castable || isa<View, ConstantOp>(op))
      return "";
    if (decisions.optimizer.contains(op))
      return "the optimizer";
    CastRule rule = castable.castRule();
    std::string why = takesPrecision(op)                        ? reasonOfWork(op, rule, choice)
                      : rule.accumulates                        ? "sums stay f32"
                      : llvm::is_contained(rule.results, false) ? "a statistic stays f32"
                      : isa<Pointwise>(op)                      ? "elementwise work is f32"
                                                                : "nothing rounds it";
    return why + pinText(op);
  }

  /// For an op to which `precision` applies.
  std::string reasonOfWork(Operation *op, const CastRule &rule, PrecisionRecord &choice) {
    std::string stored = decisions.exact.contains(op) ? "; a gradient leaves it in f32" : "";
    Type factors;
    for (auto [operand, may] : llvm::zip_equal(op->getOperands(), rule.operands))
      if (may)
        factors = low(operand) ? low(operand) : factors;
    bool composite = rule.multiplies != Multiplies::low;
    if (factorsOf(op) == Precision::tf32)
      return "it multiplies f32 rounded to tf32, its sums are f32" + stored;
    if (!factors)
      return composite ? "it reads f32" : "it multiplies f32" + stored;
    if (composite)
      return "it reads what was rounded to " + textOf(factors) + ", its sums are f32" + stored;
    if (std::string scaled = reasonOfScaled(op, choice); !scaled.empty())
      return scaled + stored;
    choice.computes = factors;
    return "it multiplies " + textOf(factors) + ", its sums are f32" + stored;
  }

  /// For an op whose operands were rounded with a scale: it computes in the type with fewer digits.
  std::string reasonOfScaled(Operation *op, PrecisionRecord &choice) {
    SmallVector<ScaledType> types;
    for (Value operand : op->getOperands())
      if (ScaledType type = decisions.scaled.factors.lookup(operand);
          type.low && !llvm::is_contained(types, type))
        types.push_back(type);
    if (types.empty())
      return "";
    auto digits = [](ScaledType type) { return cast<FloatType>(type.low).getFPMantissaWidth(); };
    choice.computes = llvm::min_element(types, [&](ScaledType one, ScaledType other) {
                        return digits(one) < digits(other);
                      })->low;
    return "it multiplies " + textOf(types.front().low) +
           (types.size() > 1 ? " and " + textOf(types.back().low) : "") + " under scales" +
           (types.front().scales == Scales::blocks ? " of blocks" : "") + ", its sums are f32";
  }

  /// The type to which a value was rounded, if it was.
  static Type low(Value value) {
    if (isLow(elementOf(value)))
      return elementOf(value);
    auto widened = value.getDefiningOp<CastOp>();
    if (widened && isLow(elementOf(widened.getInput())))
      return elementOf(widened.getInput());
    return {};
  }

  std::string pinText(Operation *op) {
    if (!precisionOverrideOf(op))
      return "";
    FileLineColLoc line = modelLine(overriddenAt(op));
    return line ? "; pinned by line " + std::to_string(line.getLine()) : "; pinned";
  }

  std::string reasonOfCast(CastOp cast, PrecisionRecord &choice) {
    Type to = elementOf(cast.getResult());
    if (!isLow(to))
      return ""; // widens, or converts to an integer
    choice.stores = to;
    auto made = decisions.rounded.find(cast);
    if (made == decisions.rounded.end())
      return "the model's own cast";
    bool variable = cast.getInput().getDefiningOp<ReadOp>() != nullptr;
    ScaledType scaled = decisions.scaled.factors.lookup(cast.getResult());
    return made->second.str() +
           (scaled.low ? ", rounded to " + textOf(scaled.low) +
                             (scaled.scales == Scales::blocks ? " under scales of blocks"
                                                              : " under a scale")
                       : "") +
           (variable ? castOnceAStep.str() : "");
  }

  std::string reasonOfVariable(ReadOp read, PrecisionRecord &choice) {
    auto variable =
        SymbolTable::lookupNearestSymbolFrom<VariableOp>(module, read.getVariableAttr());
    if (!variable || variable.getRole() == Role::run)
      return "";
    choice.at = variable.getLoc();
    choice.op = stringifyRole(variable.getRole()).str();
    choice.stores = elementOf(read.getResult());
    return variable.getRole() == Role::parameter ? "parameters stay f32" : "states stay f32";
  }

  ModuleOp module;
  const Decisions &decisions;
};

} // namespace

SmallVector<PrecisionRecord> explain(func::FuncOp entry, const Decisions &decisions) {
  Explainer explainer(entry, decisions);
  // By file, line, and program order.
  using Line = std::pair<StringRef, unsigned>;
  std::map<Line, SmallVector<PrecisionRecord>> lines;
  entry.walk([&](Operation *op) {
    std::optional<PrecisionRecord> choice = explainer.choiceOf(op);
    if (!choice)
      return;
    FileLineColLoc place = modelLine(choice->at);
    SmallVector<PrecisionRecord> &line =
        lines[place ? Line(place.getFilename().getValue(), place.getLine()) : Line()];
    auto same = llvm::find_if(line, [&](const PrecisionRecord &other) {
      return other.op == choice->op && other.computes == choice->computes &&
             other.stores == choice->stores && other.why == choice->why;
    });
    if (same != line.end()) {
      ++same->times;
      return;
    }
    choice->at = place ? Location(place) : Location(UnknownLoc::get(op->getContext()));
    line.push_back(std::move(*choice));
  });
  SmallVector<PrecisionRecord> all;
  for (auto &[line, choices] : lines)
    llvm::append_range(all, choices);
  return all;
}

} // namespace weir
