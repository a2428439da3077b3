//===- TrainingWarnings.cpp - Warnings that take the program to see -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/TrainingWarnings.h"

#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/structure/Structure.h"
#include "llvm/ADT/SetVector.h"

namespace weir::elab {

/// Whether what the op computes changes smoothly with its float operands. (Through integers and
/// truth values nothing flows by their type.)
static bool passesGradient(mlir::Operation *op) {
  auto differentiable = llvm::dyn_cast<Differentiable>(op);
  return !differentiable || differentiable.passesGradient();
}

/// The variables that some values are computed from; `smoothly`: along gradients only.
static std::set<std::string> variablesBehind(llvm::ArrayRef<mlir::Value> values, bool smoothly) {
  std::set<std::string> variables;
  llvm::SetVector<mlir::Operation *> open;
  auto add = [&](mlir::Value value) {
    if (mlir::Operation *op = value ? value.getDefiningOp() : nullptr)
      open.insert(op);
  };
  llvm::for_each(values, add);
  for (size_t i = 0; i < open.size(); ++i) {
    if (auto read = llvm::dyn_cast<ReadOp>(open[i]))
      variables.insert(read.getVariable().str());
    if (smoothly && !passesGradient(open[i]))
      continue;
    for (mlir::Value operand : open[i]->getOperands())
      if (!smoothly || llvm::isa<mlir::FloatType>(tensorType(operand).getElementType()))
        add(operand);
  }
  return variables;
}

/// "`a`, `b` and 3 more"
static std::string listed(const std::vector<std::string> &paths) {
  std::string text;
  for (size_t i = 0; i < paths.size() && i < 2; ++i)
    text += (i ? ", `" : "`") + paths[i] + "`";
  return paths.size() > 2 ? text + " and " + std::to_string(paths.size() - 2) + " more" : text;
}

void TrainingWarnings::warnUntrained(const std::vector<Trained> &trained, const Ratio &loss,
                                     llvm::ArrayRef<Metric> metrics) {
  if (diagnostics.hasErrors() || trained.empty()) // of the latter there is a warning already
    return;
  std::vector<mlir::Value> sums, results;
  for (const RatioTerm &term : loss.terms)
    sums.push_back(term.sum); // counts depend on no parameter
  results = sums;
  for (const Metric &metric : metrics)
    for (const RatioTerm &term : metric.value.terms)
      results.insert(results.end(), {term.sum, term.count});
  auto smooth = variablesBehind(sums, true), behind = variablesBehind(sums, false),
       reported = variablesBehind(results, false);
  std::set<const Variable *> learning;
  for (const Trained &one : trained)
    learning.insert(one.parameter);
  // Of the instances of a block each has its own; one report names them all.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<Range, std::vector<std::string>>> unused,
      unreached;
  for (const auto &variable : variables) {
    const std::string &symbol = variable->path.symbol;
    bool trains = learning.count(variable.get());
    if (variable->role != Role::parameter || smooth.count(symbol) ||
        (!trains && reported.count(symbol)))
      continue;
    auto &reports = behind.count(symbol) ? unreached : unused;
    auto &[range, paths] = reports[{variable->place.begin, variable->place.end}];
    range = variable->place;
    paths.push_back(variable->path.path);
  }
  auto plural = [](const std::vector<std::string> &paths) {
    return paths.size() == 1 ? "the parameter " : "the parameters ";
  };
  for (const auto &[key, report] : unused)
    diagnostics
        .warning(report.first, Warning::unusedParameter,
                 "the loss does not depend on " + (plural(report.second) + listed(report.second)))
        .help("it is kept as it begins, but for decay");
  for (const auto &[key, report] : unreached)
    diagnostics
        .warning(report.first, Warning::untrainedParameter,
                 "no gradient reaches " + (plural(report.second) + listed(report.second)))
        .help("the loss depends on it through `stop_gradient`, `floor`, `sign`, an int or a "
              "comparison, which pass none");
  warnUnusedRules();
}

/// A last line without `where` takes what is left, which may be nothing.
void TrainingWarnings::warnUnusedRules() {
  for (const ast::UpdateEntry *rule : rules.unused())
    if (rule->where || rule != recipe.updates.back())
      diagnostics.warning(rule->range, Warning::unusedUpdate, "this `update` takes no parameter");
}

void TrainingWarnings::warnSecondModel(const ast::CallableItem &callable, Range call,
                                       const Entry *entry) {
  if (reporter.isSilent() || !entry || entry->kind != EntryKind::step || entry->model == &callable)
    return;
  const ast::Identifier &first = entry->model->name;
  diagnostics
      .warning(call, Warning::secondModel,
               "`" + callable.name.text +
                   "` is a second model: `predict` and `generate` run the first, `" + first.text +
                   "`")
      .note(first.range, "declared here");
}

/// An argument of the innermost call; null where it has none of that name.
const Value *TrainingWarnings::argument(const char *name) {
  auto found = current->scope->names.find(name);
  return found == current->scope->names.end() ? nullptr : &found->second.value;
}

/// The prelude's schedules cut a warm-up, so that a short trial is no warm-up alone. Of a run with
/// other steps than the recipe's the runtime says so (runtime/run/TotalSteps.cpp).
void TrainingWarnings::warnSchedule(Range call) {
  if (!current->file->prelude || reporter.isSilent())
    return;
  if (const Value *peak = argument("peak"))
    warnLearningRate(*peak, current.userPlace(call));
  const Value *given = argument("warmup");
  const auto *steps = given ? given->get<int64_t>() : nullptr;
  if (!steps)
    return;
  recipe.warmup = std::max(recipe.warmup, *steps);
  if (recipe.steps == 0 || *steps <= recipe.steps / 4)
    return;
  diagnostics.warning(current.userPlace(call), Warning::shortWarmup,
                      "the warm-up of " + std::to_string(*steps) + " steps is cut to " +
                          std::to_string(recipe.steps / 4) + ", a quarter of the run's " +
                          std::to_string(recipe.steps));
}

/// No optimizer of the prelude trains anything at such a rate: 1e3 is written for 1e-3.
void TrainingWarnings::warnLearningRate(const Value &rate, Range range) {
  constexpr double most = 10;
  if (reporter.isSilent() || !rate.isNumber() || rate.number() <= most)
    return;
  diagnostics
      .warning(range, Warning::largeLearningRate,
               "a learning rate of " + describe(rate.number()) + " is above " + describe(most))
      .help("usual ones are from 1e-5 to 1; is a minus missing in the exponent?");
}

/// What a view or a cast shows, and so on.
static mlir::Value shownBy(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!llvm::isa<View, CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether two values are one, or views of one value by the same ops.
static bool isSame(mlir::Value one, mlir::Value other) {
  while (one != other) {
    mlir::Operation *a = one.getDefiningOp(), *b = other.getDefiningOp();
    if (!a || !b || !llvm::isa<View, CastOp>(a) || a->getName() != b->getName() ||
        one.getType() != other.getType() || a->getAttrDictionary() != b->getAttrDictionary() ||
        a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute())
      return false;
    one = a->getOperand(0);
    other = b->getOperand(0);
  }
  return true;
}

void TrainingWarnings::warnLoss(const std::string &name, const Value &logits, const Value &labels,
                                Range call, const Entry *entry) {
  if (reporter.isSilent() || !entry || entry->kind != EntryKind::step)
    return;
  Range range = current.userPlace(call);
  if (const Tensor *tensor = logits.get<Tensor>()) {
    mlir::Value shown = shownBy(tensor->value);
    const ast::CallableItem *maker = entry->madeBy.lookup(shown);
    std::string squashes = maker && maker->name.text == "softmax"                    ? "softmax"
                           : llvm::isa_and_nonnull<SigmoidOp>(shown.getDefiningOp()) ? "sigmoid"
                                                                                     : "";
    if (!squashes.empty())
      diagnostics
          .warning(range, Warning::lossOfProbabilities,
                   "`" + name + "` wants logits, and gets what `" + squashes + "` gives")
          .help("leave the `" + squashes + "` out: the loss has its own");
  }
  const Tensor *truth = labels.get<Tensor>();
  if (!truth || truth->isFloat()) // what an autoencoder is to give back is its input
    return;
  for (const CallArgument &argument : entry->modelArguments)
    if (const Tensor *input = argument.value.get<Tensor>();
        input && isSame(input->value, truth->value))
      diagnostics
          .warning(range, Warning::labelsAreInputs,
                   "the labels of `" + name + "` are the model's own `" + argument.name->text +
                       "`: it learns to copy them")
          .help("for the token that follows give the model `window[:, :-1]`, and the loss "
                "`window[:, 1:]`");
}

/// The prelude's losses, whose arguments are bound.
void TrainingWarnings::warnLossCall(const ast::CallableItem &callable, Range call,
                                    const Entry *entry) {
  const std::string &name = callable.name.text;
  if (!current->file->prelude || (name != "cross_entropy" && name != "bce_with_logits"))
    return;
  const Value *logits = argument("logits"),
              *labels = argument(name == "cross_entropy" ? "labels" : "targets");
  warnLoss(name, logits ? *logits : Value(), labels ? *labels : Value(), call, entry);
}

} // namespace weir::elab
