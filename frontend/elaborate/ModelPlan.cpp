//===- ModelPlan.cpp - What the model's plan asks of the compiler ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/ModelPlan.h"
#include "ir/weir/FormerNames.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Update.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/requests/Blocks.h"
#include "ir/weir/requests/Recompute.h"
#include "ir/weir/requests/ShardingConstraints.h"
#include "support/NearestName.h"
#include "support/mesh/Mesh.h"
#include "support/mesh/Stages.h"
#include "support/precision/Precision.h"
#include "llvm/ADT/StringExtras.h"

namespace weir::elab {

void ModelPlan::read(const ast::Module &model) {
  const ast::PlanItem *plan = nullptr;
  for (const ast::ItemPtr &item : model.items) {
    const auto *one = llvm::dyn_cast<ast::PlanItem>(item.get());
    if (!one)
      continue;
    if (plan)
      error(one->keyword, "a model has one `plan`").note(plan->keyword, "the other one");
    else
      plan = one;
  }
  if (!plan)
    return;
  for (const auto &entry : plan->entries) {
    if (const auto *pin = llvm::dyn_cast<ast::PinEntry>(entry.get()))
      readPin(*pin);
    else if (const auto *shard = llvm::dyn_cast<ast::ShardEntry>(entry.get()))
      readShard(*shard);
    else
      readRecompute(*llvm::cast<ast::RecomputeEntry>(entry.get()));
  }
}

void ModelPlan::apply(mlir::ModuleOp module) {
  pinOps(module);
  markBlocks(module);
  pinShards(module);
}

// What is wrong with a predicate itself is said beside all other mistakes of the model, so it is
// evaluated once while the plan is read.

void ModelPlan::readRecompute(const ast::RecomputeEntry &entry) {
  unsigned before = diagnostics.errorCount();
  holds(entry.where, {{"path", std::string()}});
  if (diagnostics.errorCount() == before)
    recomputes.push_back(&entry);
}

void ModelPlan::readPin(const ast::PinEntry &entry) {
  const ast::Identifier &name = entry.precision;
  std::optional<Precision> precision = precisionNamed(name.text);
  if (!precision) {
    std::vector<std::string> names;
    for (const PrecisionRow &row : precisionRows)
      names.emplace_back(row.name);
    error(name.range, "a precision is " + precisionOptions() + ", not `" + name.text + "`")
        .suggest(nearestName(name.text, names));
    return;
  }
  Pin pin{&entry, *precision};
  unsigned before = diagnostics.errorCount();
  matches(pin, "", "matmul");
  if (diagnostics.errorCount() == before)
    pins.push_back(pin);
}

bool ModelPlan::holds(const ast::ExprPtr &where,
                      const std::vector<std::pair<const char *, Value>> &texts) {
  return evaluator.holds(where, texts, /*otherwise=*/false);
}

/// The part of a predicate that is this text; else, as where a config has it, all of the predicate.
static Range rangeOf(const std::string &text, const ast::Expr &where) {
  Range range = where.range;
  visit(where, [&](const ast::Expr &expr) {
    const auto *literal = llvm::dyn_cast<ast::StringExpr>(&expr);
    if (literal && literal->value == text)
      range = literal->range;
  });
  return range;
}

/// A predicate that is about the former name of an op, and not about the present one, sees the op
/// by its former name. What it is about shows where it differs from what it says of an op of any
/// other name.
bool ModelPlan::matches(const Pin &pin, const std::string &name, const std::string &op) {
  auto holdsFor = [&](const std::string &op) {
    return holds(pin.entry->where, {{"name", name}, {"op", op}});
  };
  const bool result = holdsFor(op);
  const std::string before = formerNameOf(op).str();
  if (!pin.entry->where || before.empty())
    return result;
  const bool ofOthers = holdsFor("");
  if (result != ofOthers || holdsFor(before) == ofOthers)
    return result;
  diagnostics.renamed(rangeOf(before, *pin.entry->where), before, op);
  return !result;
}

/// Of the parameter that the op multiplies; where it multiplies none, of the instance that it
/// stands in.
std::string ModelPlan::nameOf(mlir::Operation *op) {
  for (mlir::Value operand : op->getOperands()) {
    while (mlir::Operation *maker = operand.getDefiningOp()) {
      if (auto read = llvm::dyn_cast<ReadOp>(maker)) {
        const Variable *variable = variables.find(read.getVariable().str());
        if (variable && variable->role == Role::parameter)
          return variable->path.path;
      }
      if (!llvm::isa<View, CastOp>(maker))
        break;
      operand = maker->getOperand(0);
    }
  }
  return instancePath(op->getLoc()).str();
}

/// The first pin that matches takes the op.
ModelPlan::Pin *ModelPlan::pinOf(const std::string &name, const std::string &op) {
  Pin *first = nullptr;
  for (Pin &pin : pins) {
    if (!matches(pin, name, op))
      continue;
    pin.matches = true;
    first = first ? first : &pin;
  }
  if (first)
    first->takes = true;
  return first;
}

void ModelPlan::pinOps(mlir::ModuleOp module) {
  if (pins.empty())
    return;
  std::map<std::pair<std::string, std::string>, Pin *> known;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    // Of what an optimizer multiplies nothing is rounded, whatever it would be pinned to.
    llvm::DenseSet<mlir::Operation *> pinned = opsBesideUpdate(function);
    function.walk([&](mlir::Operation *op) {
      if (!takesPrecision(op) || !pinned.contains(op))
        return;
      std::string name = nameOf(op), kind = op->getName().stripDialect().str();
      auto [place, isNew] = known.try_emplace({name, kind}, nullptr);
      if (isNew)
        place->second = pinOf(name, kind);
      if (const Pin *pin = place->second)
        weir::overridePrecision(op, pin->precision, locations.inFile(pin->entry->range));
    });
  }
  Ops ops;
  for (const auto &[op, pin] : known)
    ops.insert(op);
  for (const Pin &pin : pins)
    if (!pin.takes)
      reportUnmatched(pin, ops);
}

/// Suggests what of the model is near a text of the predicate.
static void suggestNear(Diagnostic &report, const ast::Expr &where,
                        const std::vector<std::string> &names) {
  visit(where, [&](const ast::Expr &expr) {
    if (const auto *text = llvm::dyn_cast<ast::StringExpr>(&expr);
        text && report.suggestion.empty())
      report.suggest(nearestName(text->value, names));
  });
}

static std::string someOf(std::vector<std::string> list) {
  constexpr size_t most = 8;
  bool more = list.size() > most;
  list.resize(std::min(list.size(), most));
  return "`" + llvm::join(list, "`, `") + "`" + (more ? ", …" : "");
}

void ModelPlan::reportUnmatched(const Pin &pin, const Ops &ops) {
  const ast::PinEntry &entry = *pin.entry;
  if (pin.matches) {
    error(entry.range, "this pins nothing: the lines before it take all that it matches");
    return;
  }
  Diagnostic &report = error(entry.where ? entry.where->range : entry.range,
                             "this matches no product, convolution or composite of the model");
  if (ops.empty() || !entry.where)
    return;
  // Names as they are, and each part of one: a predicate may ask for either.
  std::vector<std::string> names, parts, kinds;
  for (const auto &[name, kind] : ops) {
    if (!name.empty() && !llvm::is_contained(names, name))
      names.push_back(name);
    if (!llvm::is_contained(kinds, kind))
      kinds.push_back(kind);
    for (llvm::StringRef part : llvm::split(name, '.'))
      parts.push_back(part.str());
  }
  std::vector<std::string> all = names;
  llvm::append_range(all, parts);
  llvm::append_range(all, kinds);
  suggestNear(report, *entry.where, all);
  if (report.suggestion.empty())
    report.help("ops are " + someOf(kinds) + (names.empty() ? "" : ", names " + someOf(names)));
}

/// The outermost blocks are enough: what is in them is marked with them.
void ModelPlan::markBlocks(mlir::ModuleOp module) {
  if (recomputes.empty())
    return;
  std::set<std::string> blocks = blocksOf(module), marked;
  for (const ast::RecomputeEntry *entry : recomputes) {
    bool any = false;
    for (const std::string &path : blocks)
      if (holds(entry->where, {{"path", path}})) {
        any = true;
        marked.insert(path);
      }
    if (!any)
      reportUnmatched(*entry, blocks);
  }
  setRecomputed(module, outermost(marked));
}

void ModelPlan::reportUnmatched(const ast::RecomputeEntry &entry,
                                const std::set<std::string> &blocks) {
  Diagnostic &report = error(entry.where->range, "this matches no block of the model");
  // As they are, with a star for the number of a layer, and each part.
  std::vector<std::string> all, alike;
  for (const std::string &path : blocks) {
    std::string pattern = patternOf(path);
    if (!path.empty() && !llvm::is_contained(alike, pattern))
      alike.push_back(pattern);
    all.push_back(path);
  }
  all.insert(all.begin(), alike.begin(), alike.end());
  for (const std::string &pattern : alike)
    for (llvm::StringRef part : llvm::split(pattern, '.'))
      if (part != "*")
        all.push_back(part.str());
  suggestNear(report, *entry.where, all);
  if (report.suggestion.empty() && !alike.empty())
    report.help("blocks are " + someOf(alike));
}

void ModelPlan::readShard(const ast::ShardEntry &entry) {
  Value pattern = evaluator.evaluate(*entry.pattern);
  const auto *text = pattern.get<std::string>();
  if (!text && !pattern.isPoison())
    error(entry.pattern->range, "expected the name of a parameter, or a pattern of names such as "
                                "\"h.*.mlp.c_fc.weight\", but found " +
                                    pattern.describe());
  static constexpr std::string_view axes[] = {dataAxis, tensorAxis, expertAxis, contextAxis,
                                              stageAxis};
  if (!llvm::is_contained(axes, entry.axis.text))
    error(entry.axis.range, "`" + entry.axis.text +
                                "` is no axis of a mesh: expected tp, over which parameters are "
                                "cut, or dp, ep, cp or pp, of which the line says nothing");
  std::optional<int64_t> dimension =
      evaluator.evaluateInt(*entry.dimension, "what stands after `dim`");
  if (dimension && *dimension < 0)
    error(entry.dimension->range, "dimensions are numbered from 0");
  else if (text && dimension)
    shards.push_back({&entry, *text, *dimension});
}

void ModelPlan::pinShards(mlir::ModuleOp module) {
  std::vector<ShardingConstraint> pins;
  for (const Shard &shard : shards) {
    bool any = false;
    for (const auto &variable : variables) {
      const std::string &path = variable->path.path;
      if (variable->role != Role::parameter || !matchesPath(path, shard.pattern))
        continue;
      any = true;
      if (shard.dimension >= variable->type.getRank()) {
        error(shard.entry->dimension->range, "`" + path + "` has no dimension " +
                                                 std::to_string(shard.dimension) + ": it has " +
                                                 std::to_string(variable->type.getRank()))
            .note(variable->place, "it is declared here");
        break;
      }
      pins.push_back(
          {path, shard.entry->axis.text, shard.dimension, locations.inFile(shard.entry->range)});
    }
    if (!any)
      reportUnmatched(*shard.entry);
  }
  if (!diagnostics.hasErrors())
    setShardingConstraints(module, pins);
}

void ModelPlan::reportUnmatched(const ast::ShardEntry &entry) {
  Diagnostic &report = error(entry.pattern->range, "this matches no parameter of the model");
  std::vector<std::string> names;
  for (const auto &variable : variables)
    if (variable->role == Role::parameter)
      names.push_back(variable->path.path);
  suggestNear(report, *entry.pattern, names);
  if (report.suggestion.empty() && !names.empty())
    report.help("parameters are " + someOf(names));
}

} // namespace weir::elab
