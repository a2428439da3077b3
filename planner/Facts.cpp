//===- Facts.cpp - Facts about a model, for planning ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Facts.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Stages.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/requests/Blocks.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Pipeline.h"
#include "support/Text.h"
#include "support/mesh/MachineRates.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weir::planner {

static MicrobatchesOp microbatchesOf(ModuleOp model) {
  MicrobatchesOp found;
  if (auto step = model.lookupSymbol<func::FuncOp>("step"))
    step.walk([&](MicrobatchesOp op) {
      found = op;
      return WalkResult::interrupt();
    });
  return found;
}

std::vector<int64_t> divisorsOf(int64_t number) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= number / i; ++i)
    if (number % i == 0) {
      all.push_back(i);
      if (i != number / i)
        all.push_back(number / i);
    }
  llvm::sort(all);
  return all;
}

std::vector<int64_t> microbatchCounts(ModuleOp model) {
  MicrobatchesOp op = microbatchesOf(model);
  if (!op)
    return {1};
  // A value carried from one microbatch to the next belongs to the recipe's microbatches.
  if (op.getSliced().empty() || !op.getCarried().empty())
    return {int64_t(op.getCount())};
  std::vector<int64_t> all = divisorsOf(shapeOf(op.getBody().getArgument(1))[0]);
  for (int64_t &one : all)
    one *= int64_t(op.getCount());
  return all;
}

/// The count of the loss's sums: the largest that is known.
static double itemsOf(func::FuncOp step) {
  double items = 0;
  step.walk([&](LossOp loss) {
    for (Value count : loss.getCounts())
      if (auto constant = count.getDefiningOp<ConstantOp>())
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
          items = std::max(items, number.getValueAsDouble());
  });
  return items;
}

/// Model FLOPs of a step, which is consumed; 0 if it cannot be compiled, which a later compile
/// reports.
static double flopsOf(ModuleOp step) {
  ScopedDiagnosticHandler quiet(step.getContext(), [](Diagnostic &) { return success(); });
  double flops = 0;
  if (succeeded(runPassGroups(step, {}, "recipe")))
    if (auto whole = step.lookupSymbol<func::FuncOp>("step"))
      for (const LineFlops &line : modelFlopsOf(whole))
        flops += line.flops;
  return flops;
}

Facts::Facts(ModuleOp model)
    : counts(microbatchCounts(model)), repeats(repeatsOf(model)), model(model) {
  auto step = model.lookupSymbol<func::FuncOp>("step");
  if (MicrobatchesOp op = microbatchesOf(model)) {
    recipeCount = int64_t(op.getCount());
    if (!op.getSliced().empty())
      rows = recipeCount * shapeOf(op.getBody().getArgument(1))[0];
  }
  items = step ? itemsOf(step) : 0;
  if (items == 0)
    items = double(rows);
  hasTokens = items > double(rows);
  llvm::StringSet<> written;
  if (step)
    step.walk([&](WriteOp write) { written.insert(write.getVariable()); });
  double changed = 0;
  for (auto variable : model.getOps<VariableOp>()) {
    double bytes = double(storageBytes(variable.getType()));
    if (variable.getRole() == Role::parameter && written.contains(variable.getSymName()))
      changed += bytes;
    parameters += variable.getRole() == Role::parameter ? bytes : 0;
    optimizer += variable.getRole() == Role::optimizer ? bytes : 0;
  }
  trained = parameters > 0 ? changed / parameters : 1;
  marksBlocks = model->hasAttr(recomputeAttrName);
  std::map<std::string, int64_t> times;
  // Optimizers are blocks, too.
  std::set<std::string> paths;
  if (MicrobatchesOp loop = microbatchesOf(model))
    loop.walk([&](Operation *op) {
      for (StringRef path = instancePath(op->getLoc());
           !path.empty() && paths.insert(path.str()).second;)
        path = pathAround(path);
    });
  for (const std::string &path : paths)
    ++times[patternOf(path)];
  for (const auto &[pattern, count] : times)
    if (count > 1)
      blocks.push_back(pattern);
  llvm::stable_sort(blocks, [](const std::string &a, const std::string &b) {
    return llvm::count(a, '.') < llvm::count(b, '.');
  });
  // For a deep model, extrapolates from two and three layers.
  constexpr int64_t few = 2;
  double first = flopsOf(*shrunk(model, repeats, few));
  flops = repeats.rounds <= few ? first
                                : first + double(repeats.rounds - few) *
                                              (flopsOf(*shrunk(model, repeats, few + 1)) - first);
}

const Facts::Cut &Facts::cut(const Mesh::Axis &pipe, int64_t chunks) {
  const int64_t count = pipe.size * chunks;
  // The stages of a rank take turns.
  std::vector<int64_t> shares;
  for (int64_t stage = 0; stage < count; ++stage)
    shares.push_back(pipe.share(stage % pipe.size));
  Mesh stages{{{std::string(stageAxis), count}}};
  bool isMesh = stages.axes[0].setShares(std::move(shares));
  auto [found, isNew] = cuts.try_emplace(concat(pipe.ranks(), " ", chunks));
  Cut &cut = found->second;
  if (!isNew)
    return cut;
  if (!isMesh || !stages.wrong().empty()) {
    cut.why = concat(count, " stages, or their shares, are too many for a mesh: expected fewer");
    return cut;
  }
  auto listen = [&](Diagnostic &diagnostic) {
    if (cut.why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      cut.why = diagnostic.str();
    return success();
  };
  ScopedDiagnosticHandler handler(model.getContext(), listen);
  if (!forward) {
    forward = shrunk(model, repeats, repeats.rounds);
    for (StringRef pass : {"cut-microbatches", "accumulate-gradients", "simplify-forward"})
      if (failed(runPass(pass, *forward, {}))) {
        forward = nullptr;
        return cut;
      }
  }
  OwningOpRef<ModuleOp> copy(forward->clone());
  if (failed(runPass("assign-stages", *copy, {.strategy = {.mesh = stages}})))
    return cut;
  std::vector<StageShare> parts(static_cast<size_t>(count));
  double work = 0, parameters = 0;
  auto step = copy->lookupSymbol<func::FuncOp>("step");
  MicrobatchesOp loop = microbatchesOf(*copy);
  int64_t crossing = 0;
  step.walk([&](Operation *op) {
    int64_t stage = stages::saidStage(op);
    if (stage == stages::everywhere)
      return;
    if (auto costed = dyn_cast<Costed>(op)) {
      Cost cost = costed.cost();
      // With the same weights as the compiler's cut (passes/stages/AssignStages.cpp).
      double takes = machines::stageCost(cost.flops, double(cost.bytes));
      parts[size_t(stage)].work += takes;
      work += takes;
    }
    int64_t given = 0;
    // Weights that several stages share are sent once.
    for (Value result :
         loop && op->getParentOp() == loop ? op->getResults() : op->getResults().take_front(0))
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            int64_t of = stages::saidStage(user);
            return of != stages::everywhere && of > stage;
          }))
        given += storageBytes(result.getType());
    crossing = std::max(crossing, given);
  });
  for (auto variable : copy->getOps<VariableOp>())
    if (int64_t stage = stages::saidStage(variable);
        stage != stages::everywhere && variable.getRole() == Role::parameter) {
      double bytes = double(storageBytes(variable.getType()));
      parts[size_t(stage)].parameters += bytes;
      parameters += bytes;
    }
  for (StageShare &share : parts) {
    share.work /= std::max(work, 1.0);
    share.parameters /= std::max(parameters, 1.0);
  }
  int64_t ofRows = loop && !loop.getSliced().empty() ? rows / int64_t(loop.getCount()) : 1;
  cut.crossing = double(crossing) / double(std::max<int64_t>(1, ofRows));
  cut.shares = std::move(parts);
  return cut;
}

const std::optional<std::vector<StageShare>> &Facts::stages(const Mesh::Axis &pipe, int64_t chunks,
                                                            std::string *why) {
  const Cut &made = cut(pipe, chunks);
  if (why)
    *why = made.why;
  return made.shares;
}

double Facts::crossing(const Mesh::Axis &pipe, int64_t chunks) {
  return cut(pipe, chunks).crossing;
}

} // namespace weir::planner
