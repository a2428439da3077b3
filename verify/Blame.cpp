//===- Blame.cpp - Finds the op at which two programs differ --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Blame.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "verify/Compare.h"
#include "verify/ValueSet.h"
#include "llvm/ADT/StringSet.h"

namespace weir {
namespace {

/// What one microbatch computes is known, and is still wrong as the result of all.
std::optional<Blame> blameRounds(MicrobatchesOp op, llvm::ArrayRef<Tensor> results,
                                 const ValueSet &sums) {
  mlir::Operation *yield = op.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(results)) {
    if (op.getResult(i).use_empty() || sums.has(result))
      continue;
    mlir::Operation *maker = yield->getOperand(i).getDefiningOp();
    mlir::Operation *named = maker ? maker : op.getOperation();
    return Blame{named->getName().getStringRef().str(), named->getLoc(),
                 "over all microbatches it is not what it was", true};
  }
  return std::nullopt;
}

} // namespace

static std::optional<Blame> blame(const Watched &before, const Watched &after,
                                  const Disagreement &what) {
  mlir::Value was, is;
  mlir::Operation *oldRoot = rootOf(before.module, what, was),
                  *root = rootOf(after.module, what, is);
  if (!root)
    return oldRoot ? std::optional<Blame>({oldRoot->getName().getStringRef().str(),
                                           oldRoot->getLoc(), "it is there no more"})
                   : std::nullopt;
  ValueSet known = valueSetOf(before), sums;
  before.run([&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    if (llvm::isa<MicrobatchesOp>(op))
      for (const Tensor &result : results)
        sums.add(result);
  });
  llvm::DenseSet<mlir::Operation *> slice = sliceOf(is);
  std::optional<Blame> found;
  after.run([&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    if (found || !slice.contains(op) || llvm::isa<KernelOp>(op))
      return;
    if (auto rounds = llvm::dyn_cast<MicrobatchesOp>(op)) {
      found = blameRounds(rounds, results, sums);
      return;
    }
    for (const Tensor &result : results)
      if (!known.has(result))
        found = Blame{op->getName().getStringRef().str(), op->getLoc(),
                      "nothing before the pass computes its value", true};
  });
  if (found)
    return found;
  return Blame{root->getName().getStringRef().str(),
               was && oldRoot ? (llvm::isa<WriteOp>(root) ? root->getLoc() : was.getLoc())
                              : root->getLoc(),
               "every value was there before, but this result is another one of them now"};
}

std::optional<Blame> blame(mlir::ModuleOp before, mlir::ModuleOp after, const Disagreement &what,
                           const RandomInputs &feed) {
  return blame(watched(before, what.entry, feed), watched(after, what.entry, feed), what);
}

std::optional<Blame> blame(RankInterpreter &before, RankInterpreter &after,
                           llvm::ArrayRef<int64_t> looked, const Disagreement &what,
                           const RandomInputs &feed) {
  std::optional<Blame> last;
  for (int64_t rank : looked) {
    std::optional<Blame> found = blame(watched(before, rank, what.entry, feed),
                                       watched(after, rank, what.entry, feed), what);
    if (found && found->isNew)
      return found;
    last = last ? last : found;
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {

/// An action in the words of the weir ops it stands for.
std::string nameOf(mlir::Operation *action, PlanInterpreter &machine) {
  auto launch = llvm::dyn_cast<plan::LaunchOp>(action);
  if (!launch)
    return action->getName().getStringRef().str();
  std::string name = launch.getKernel().str() + " (";
  llvm::StringSet<> seen;
  KernelOp meaning = machine.kernelOf(launch).meaning();
  for (mlir::Operation &op : meaning.getBody().front().without_terminator())
    if (seen.insert(op.getName().getStringRef()).second)
      name += (seen.size() == 1 ? "" : ", ") + op.getName().getStringRef().str();
  return name + ")";
}

/// A typed range that an action reads or writes.
struct Access {
  mlir::Value buffer;
  mlir::RankedTensorType type;
};

/// What a launch, a library call or a copy reads or writes as whole tensors.
std::vector<Access> accesses(mlir::Operation *action, PlanInterpreter &machine, bool written) {
  std::vector<Access> list;
  auto add = [&](mlir::Value buffer, mlir::Type type) {
    list.push_back({buffer, llvm::cast<mlir::RankedTensorType>(type)});
  };
  if (auto launch = llvm::dyn_cast<plan::LaunchOp>(action)) {
    plan::KernelOp kernel = machine.kernelOf(launch);
    KernelOp meaning = kernel.meaning();
    if (!completes(launch, kernel))
      return {};
    size_t inputs = meaning.getInputs().size();
    if (written)
      for (auto [i, result] : llvm::enumerate(meaning.getResults()))
        add(launch.getOperands()[inputs + i], result.getType());
    else
      for (auto [i, input] : llvm::enumerate(meaning.getInputs()))
        add(launch.getOperands()[i], input.getType());
  } else if (auto call = llvm::dyn_cast<plan::CallOp>(action)) {
    for (auto [i, footprint] : llvm::enumerate(spec::footprints(call.getCall())))
      if (spec::writes(footprint.mode) == written && !footprint.workspace)
        add(call.getOperands()[i],
            mlir::RankedTensorType::get(
                {static_cast<int64_t>(footprint.extent() / sizeOf(footprint.element))},
                typeOf(action->getContext(), footprint.element)));
  }
  return list;
}

} // namespace

/// `run` runs the plan with a machine that has been prepared.
static std::optional<Blame>
blamePlan(const ValueSet &known,
          llvm::function_ref<void(std::function<void(PlanInterpreter &)>)> run) {
  std::optional<Blame> found;
  mlir::Operation *inKernel = nullptr;
  auto look = [&](PlanInterpreter &machine, mlir::Operation *action, bool written,
                  const char *why) {
    if (found)
      return;
    for (const Access &access : accesses(action, machine, written)) {
      if (known.has(machine.memory.load(access.buffer, access.type)))
        continue;
      found = Blame{nameOf(action, machine), action->getLoc(), why, true};
      if (written && inKernel) {
        found->op = inKernel->getName().getStringRef().str() + " in " + found->op;
        found->loc = inKernel->getLoc();
      }
      return;
    }
    inKernel = nullptr;
  };
  run([&](PlanInterpreter &machine) {
    machine.interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
      for (const Tensor &result : results)
        if (!found && !inKernel && !known.has(result))
          inKernel = op;
    };
    machine.before = [&](mlir::Operation *action) {
      look(machine, action, false,
           "it reads what nothing before planning computes: a wrong or stale buffer");
    };
    machine.after = [&](mlir::Operation *action) {
      look(machine, action, true, "it computes what nothing before planning does");
    };
  });
  return found;
}

static Blame misplaced(const Disagreement &what) {
  return {"plan.entry @" + what.entry, what.loc,
          "every action computes what it should, but `" + what.name +
              "` does not end up where it belongs"};
}

std::optional<Blame> blamePlan(mlir::ModuleOp before, mlir::ModuleOp plan, const Disagreement &what,
                               const RandomInputs &feed) {
  ValueSet known = valueSetOf(watched(before, what.entry, feed));
  std::optional<Blame> found =
      blamePlan(known, [&](std::function<void(PlanInterpreter &)> prepare) {
        CellMemory memory(plan, false);
        Interpreter interpreter;
        PlanInterpreter machine(plan, memory, interpreter);
        prepare(machine);
        std::map<std::string, Tensor> variables = feed.variablesFor(what.entry);
        (void)runEntry(machine, memory, plan.lookupSymbol<plan::EntryOp>(what.entry),
                       feed.inputs.at(what.entry), variables);
      });
  return found ? *found : misplaced(what);
}

std::optional<Blame> blamePlan(RankInterpreter &before, RankInterpreter &plans,
                               llvm::ArrayRef<int64_t> looked, const Disagreement &what,
                               const RandomInputs &feed) {
  for (int64_t rank : looked) {
    ValueSet known = valueSetOf(watched(before, rank, what.entry, feed));
    std::optional<Blame> found =
        blamePlan(known, [&](std::function<void(PlanInterpreter &)> prepare) {
          plans.prepare = [&](int64_t one, PlanInterpreter &machine) {
            if (one == rank)
              prepare(machine);
          };
          plans.variables = feed.variablesFor(what.entry);
          (void)plans.run(what.entry, feed.inputs.at(what.entry));
          plans.prepare = nullptr;
        });
    if (found)
      return found;
  }
  return misplaced(what);
}

std::optional<Blame> blameOffsets(mlir::ModuleOp plan, const Disagreement &what,
                                  const RandomInputs &feed) {
  // What every action reads when no buffer shares memory with another.
  std::vector<Tensors> reads;
  auto entry = plan.lookupSymbol<plan::EntryOp>(what.entry);
  {
    CellMemory memory(plan, false);
    Interpreter interpreter;
    PlanInterpreter machine(plan, memory, interpreter);
    machine.before = [&](mlir::Operation *action) {
      Tensors tensors;
      for (const Access &access : accesses(action, machine, false))
        tensors.push_back(memory.load(access.buffer, access.type));
      reads.push_back(std::move(tensors));
    };
    std::map<std::string, Tensor> variables = feed.variablesFor(what.entry);
    (void)runEntry(machine, memory, entry, feed.inputs.at(what.entry), variables);
  }
  CellMemory memory(plan, true);
  Interpreter interpreter;
  PlanInterpreter machine(plan, memory, interpreter);
  std::vector<mlir::Operation *> actions{nullptr};
  std::optional<Blame> found;
  size_t at = 0;
  machine.before = [&](mlir::Operation *action) {
    actions.push_back(action);
    memory.writer = actions.size() - 1;
    if (found || at >= reads.size())
      return;
    const Tensors &should = reads[at++];
    for (auto [i, access] : llvm::enumerate(accesses(action, machine, false))) {
      Difference difference =
          compare(memory.load(access.buffer, access.type), should[i], passTolerance);
      if (difference.agrees)
        continue;
      mlir::Operation *writer = actions[memory.writerOf(access.buffer, access.type.getElementType(),
                                                        difference.worstIndex)];
      found = Blame{nameOf(action, machine), action->getLoc(),
                    writer ? "its memory was overwritten by " + nameOf(writer, machine) + " at " +
                                 describe(writer->getLoc())
                           : "it reads memory that nothing has written"};
      return;
    }
  };
  std::map<std::string, Tensor> variables = feed.variablesFor(what.entry);
  (void)runEntry(machine, memory, entry, feed.inputs.at(what.entry), variables);
  if (found)
    return found;
  return Blame{"plan.entry @" + what.entry, what.loc,
               "`" + what.name + "` was overwritten after it was computed"};
}

} // namespace weir
