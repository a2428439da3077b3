//===- AssignStages.cpp - Cuts a model into pipeline stages ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that the step computes from its inputs stand in the model's order, and the pass cuts
// them there. It cuts where few bytes cross, unless the stages' times would differ too much. A
// value that is computed only from parameters belongs to the stage that first reads it, and so does
// a parameter: this stage owns a tied parameter.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Stages.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "passes/Passes.h"
#include "passes/stages/Schedules.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/Stages.h"

namespace weir {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::stages;

namespace {

/// The ops on which a value depends.
struct Depends {
  bool onParameters = false, onInputs = false;
  void add(Depends other) {
    onParameters |= other.onParameters;
    onInputs |= other.onInputs;
  }
};

double costOf(Operation *op) {
  auto costed = dyn_cast<Costed>(op);
  if (!costed)
    return 0;
  Cost cost = costed.cost();
  return machines::stageCost(cost.flops, double(cost.bytes));
}

/// The cuts of a list of ops that make the most expensive part as cheap as possible.
struct Cuts {
  SmallVector<size_t> begins; ///< of the parts, except the first
  double most = 0;            ///< cost of the most expensive part
};

/// For ops with these prefix sums of costs, cut at some of these positions. Each part runs at so
/// many times the average speed. Nothing if there are too few positions.
std::optional<Cuts> bestCuts(ArrayRef<double> upTo, ArrayRef<size_t> places,
                             ArrayRef<double> speeds) {
  const int64_t parts = speeds.size();
  if (int64_t(places.size()) < parts - 1)
    return std::nullopt;
  size_t count = places.size();
  // best[k][i]: k parts end at position i; the cost of the most expensive of them.
  std::vector<std::vector<double>> best(parts, std::vector<double>(count + 1, INFINITY));
  std::vector<std::vector<size_t>> from(parts, std::vector<size_t>(count + 1, 0));
  auto at = [&](size_t place) { return place < count ? upTo[places[place]] : upTo.back(); };
  for (size_t i = 0; i <= count; ++i)
    best[0][i] = at(i) / speeds[0];
  for (int64_t k = 1; k < parts; ++k)
    for (size_t i = 0; i <= count; ++i)
      for (size_t before = 0; before < i; ++before) {
        double most = std::max(best[k - 1][before], (at(i) - at(before)) / speeds[size_t(k)]);
        if (most < best[k][i]) {
          best[k][i] = most;
          from[k][i] = before;
        }
      }
  Cuts cuts{{}, best[parts - 1][count]};
  if (!std::isfinite(cuts.most))
    return std::nullopt;
  size_t place = count;
  for (int64_t k = parts - 1; k > 0; --k) {
    place = from[k][place];
    cuts.begins.push_back(places[place]);
  }
  std::reverse(cuts.begins.begin(), cuts.begins.end());
  return cuts;
}

class Assigner {
public:
  /// Ranks along `pipe` take the stages in turn.
  Assigner(ModuleOp module, func::FuncOp step, int64_t stages, const Mesh::Axis &pipe)
      : module(module), step(step), stages(stages), ranks(pipe.size) {
    for (int64_t stage = 0; stage < stages; ++stage)
      speeds.push_back(pipe.shareAt(stage % ranks));
  }

  LogicalResult run(StringRef mesh) {
    GradientOp gradient;
    step.walk([&](GradientOp op) {
      gradient = op;
      return WalkResult::interrupt();
    });
    if (!gradient)
      return success();
    visit(step.front());
    findLine(gradient, [](Depends on) { return on.onParameters && on.onInputs; });
    if (int64_t(line.size()) < stages) // a model that reads only its parameters
      findLine(gradient, [](Depends on) { return on.onParameters; });
    if (int64_t(line.size()) < stages)
      return emitError(step.getLoc())
             << mesh << ": the model has only " << line.size() << " ops in sequence, too few for "
             << stages << " stages; expected at most one stage per op";
    cut();
    placeParameters();
    placeStates();
    return checkStates(mesh);
  }

private:
  void findLine(GradientOp gradient, function_ref<bool(Depends)> isOfIt) {
    line.clear();
    for (Operation &op : *gradient->getBlock()) {
      if (&op == gradient)
        break;
      if (isOfIt(ofOp(&op)) && !isa<MicrobatchesOp, ReadOp>(op))
        line.push_back(&op);
    }
  }

  void visit(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
        Block &body = loop.getBody().front();
        for (auto [i, argument] : llvm::enumerate(body.getArguments().drop_front()))
          depends[argument] = of(loop->getOperand(i));
        visit(body);
        for (auto [result, value] :
             llvm::zip_equal(loop.getResults(), body.getTerminator()->getOperands()))
          depends[result] = of(value);
        continue;
      }
      Depends on = ofOp(&op);
      for (Value result : op.getResults())
        depends[result] = on;
    }
  }

  Depends of(Value value) {
    if (isa<BlockArgument>(value) && value.getParentBlock() == &step.front())
      return {.onInputs = true};
    return depends.lookup(value);
  }

  Depends ofOp(Operation *op) {
    Depends on;
    if (auto read = dyn_cast<ReadOp>(op))
      on.onParameters = variable(read).getRole() != Role::run;
    for (Value operand : op->getOperands())
      on.add(of(operand));
    return on;
  }

  VariableOp variable(ReadOp read) { return module.lookupSymbol<VariableOp>(read.getVariable()); }

  void cut() {
    llvm::DenseMap<Operation *, size_t> placeOf;
    std::vector<double> upTo = {0};
    for (auto [place, op] : llvm::enumerate(line)) {
      placeOf[op] = place;
      upTo.push_back(upTo.back() + costOf(op));
    }
    // Bytes that cross if the op at a position begins a stage.
    std::vector<int64_t> crossing(line.size() + 1, 0);
    for (auto [place, op] : llvm::enumerate(line))
      for (Value result : op->getResults()) {
        size_t last = place;
        for (Operation *user : result.getUsers())
          if (auto found = placeOf.find(user); found != placeOf.end())
            last = std::max(last, found->second);
        for (size_t i = place + 1; i <= last; ++i)
          crossing[i] += storageBytes(result.getType());
      }
    double total = upTo.back(), share = total / double(stages);
    int64_t few = INT64_MAX;
    for (size_t i = 1; i < line.size(); ++i)
      if (upTo[i] >= share / 4 && total - upTo[i] >= share / 4)
        few = std::min(few, crossing[i]);
    std::optional<Cuts> found;
    double best = INFINITY;
    for (int64_t doubled = 0; doubled < 40; ++doubled) {
      SmallVector<size_t> places;
      double most = double(std::max<int64_t>(few, 1)) * std::pow(2.0, double(doubled));
      for (size_t i = 1; i < line.size(); ++i)
        if (double(crossing[i]) <= most)
          places.push_back(i);
      bool all = places.size() + 1 == line.size();
      if (auto cuts = bestCuts(upTo, places, speeds)) {
        // A cut with more bytes has to be worth it.
        double worth = cuts->most * (1 + 0.1 * double(doubled));
        if (worth < best) {
          best = worth;
          found = cuts;
        }
        if (cuts->most <= 1.1 * share)
          break;
      }
      if (all)
        break;
    }
    if (!found)
      found = bestCuts(upTo, llvm::to_vector(llvm::seq<size_t>(1, line.size())), speeds);
    int64_t stage = 0;
    size_t next = 0;
    for (auto [place, op] : llvm::enumerate(line)) {
      while (next < found->begins.size() && place == found->begins[next])
        ++stage, ++next;
      sayStage(op, stage);
    }
  }

  /// Assigns a value to the stage of its first reader.
  void placeParameters() {
    SmallVector<Operation *> alone; // that depend only on parameters
    step.walk<WalkOrder::PreOrder>([&](Operation *op) {
      Depends on = ofOp(op);
      if (on.onParameters && !on.onInputs && op->getNumResults() && !isa<MicrobatchesOp>(op) &&
          saidStage(op) == everywhere)
        alone.push_back(op);
    });
    for (Operation *op : llvm::reverse(alone)) {
      int64_t first = everywhere;
      for (Operation *user : op->getUsers())
        if (int64_t stage = saidStage(user); stage != everywhere)
          first = first == everywhere ? stage : std::min(first, stage);
      sayStage(op, first);
      if (auto read = dyn_cast<ReadOp>(op); read && first != everywhere) {
        VariableOp owner = variable(read);
        int64_t known = saidStage(owner);
        sayStage(owner, known == everywhere ? first : std::min(known, first));
      }
    }
    // The optimizer state of a parameter is called "adamw.m/NAME". An unread variable is on the
    // first stage.
    for (auto variable : module.getOps<VariableOp>()) {
      if (saidStage(variable) != everywhere || variable.getRole() == Role::run)
        continue;
      StringRef name = variable.getSymName();
      auto of = module.lookupSymbol<VariableOp>(name.drop_front(
          variable.getRole() == Role::optimizer ? std::min(name.find('/'), name.size() - 1) + 1
                                                : 0));
      if (variable.getRole() == Role::optimizer && of)
        sayStage(variable, saidStage(of) == everywhere ? 0 : saidStage(of));
      else if (variable.getRole() == Role::parameter)
        sayStage(variable, 0);
    }
  }

  /// Block state that microbatches carry is on the stage that computes its next value.
  void placeStates() {
    step.walk([&](WriteOp write) {
      auto owner = module.lookupSymbol<VariableOp>(write.getVariable());
      if (owner.getRole() != Role::state || saidStage(owner) != everywhere)
        return;
      Value value = write.getValue();
      if (auto loop = value.getDefiningOp<MicrobatchesOp>())
        value = loop.getBody().front().getTerminator()->getOperand(
            cast<OpResult>(value).getResultNumber());
      if (Operation *made = value.getDefiningOp())
        sayStage(owner, saidStage(made));
    });
  }

  /// A value carried to the next microbatch, from a stage of a rank to an earlier stage of the same
  /// rank, arrives too late: that stage has started by then.
  LogicalResult checkStates(StringRef mesh) {
    auto walked = step.walk([&](MicrobatchesOp loop) {
      Block &body = loop.getBody().front();
      unsigned first = 1 + unsigned(loop.getSliced().size()) - loop.numSums();
      for (auto [i, next] : llvm::enumerate(body.getTerminator()->getOperands())) {
        if (i < loop.numSums() || !next.getDefiningOp())
          continue;
        int64_t made = saidStage(next.getDefiningOp());
        for (Operation *reader : body.getArgument(first + unsigned(i)).getUsers()) {
          int64_t read = saidStage(reader);
          if (made == everywhere || read == everywhere || made / ranks <= read / ranks)
            continue;
          emitError(next.getLoc())
              << mesh
              << " --schedule interleaved: state for the next microbatch is computed in stage "
              << made << " and read in stage " << read
              << ", which its rank runs several microbatches ahead; expected another --schedule";
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  ModuleOp module;
  func::FuncOp step;
  const int64_t stages, ranks;
  SmallVector<double> speeds; ///< of stages; the average is 1
  llvm::DenseMap<Value, Depends> depends;
  SmallVector<Operation *> line; ///< the ops to cut
};

struct AssignStages : weir::impl::AssignStagesBase<AssignStages> {
  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    const int64_t chunks = strategy.schedule->chunks;
    const int64_t ranks = strategy.stages(), stages = ranks * chunks;
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (ranks == 1 || !step)
      return;
    const Mesh &mesh = strategy.mesh;
    const Mesh::Axis &pipe = mesh.axes[size_t(mesh.find(stageAxis))];
    if (chunks > 1 &&
        !step.walk([](MicrobatchesOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
      emitError(step.getLoc())
          << "--schedule interleaved runs several stages on each rank of --mesh pp=" << ranks
          << " and needs several microbatches, but a step has only one: add --microbatches N, "
             "where N is a multiple of "
          << ranks;
      return signalPassFailure();
    }
    if (failed(Assigner(getOperation(), step, stages, pipe).run("--mesh pp=" + pipe.ranks())))
      signalPassFailure();
  }
};

} // namespace
