//===- Blame.cpp - Which op a difference begins with ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Blame.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "verify/Compare.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <unordered_map>

namespace weir {
namespace {

/// Every tensor that a program computes: to be found again whatever it is called. Row-major numbers
/// count, not shapes: views move none.
class Known {
public:
  void add(const Tensor &tensor) {
    bySize[tensor.values.size()].push_back(tensor);
    if (isSplat(tensor))
      splats.push_back(tensor.values[0]);
  }

  bool has(const Tensor &tensor) const {
    // One number everywhere may have been spread since.
    if (isSplat(tensor) && llvm::any_of(splats, [&](double value) {
          return std::abs(value - tensor.values[0]) <= passTolerance * std::abs(value);
        }))
      return true;
    auto found = bySize.find(tensor.values.size());
    return found != bySize.end() && llvm::any_of(found->second, [&](const Tensor &other) {
             Tensor same = other;
             same.shape = tensor.shape;
             return compare(tensor, same, passTolerance).agrees;
           });
  }

private:
  static bool isSplat(const Tensor &tensor) {
    return !tensor.values.empty() &&
           llvm::all_of(tensor.values, [&](double value) { return value == tensor.values[0]; });
  }

  std::unordered_map<size_t, std::vector<Tensor>> bySize;
  std::vector<double> splats;
};

mlir::LogicalResult observe(mlir::ModuleOp module, llvm::StringRef entry, const Feed &feed,
                            std::function<void(mlir::Operation *, llvm::ArrayRef<Tensor>)> see) {
  Interpreter interpreter;
  interpreter.variables = feed.variablesFor(entry);
  interpreter.observe = std::move(see);
  return mlir::LogicalResult(
      interpreter.run(module.lookupSymbol<mlir::func::FuncOp>(entry), feed.inputs.at(entry.str())));
}

Known knownTo(mlir::ModuleOp module, llvm::StringRef entry, const Feed &feed) {
  Known known;
  for (const auto &[name, value] : feed.variablesFor(entry))
    known.add(value);
  for (const Tensor &input : feed.inputs.at(entry.str()))
    known.add(input);
  (void)observe(module, entry, feed, [&](mlir::Operation *, llvm::ArrayRef<Tensor> results) {
    for (const Tensor &result : results)
      known.add(result);
  });
  return known;
}

/// The op that gives the entry the result called `name`: a return's operand or a write.
mlir::Operation *rootOf(mlir::ModuleOp module, const Disagreement &what, mlir::Value &value) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(what.entry);
  mlir::Operation *root = nullptr;
  for (auto write : function.getOps<WriteOp>())
    if (write.getVariable() == what.name) {
      root = write;
      value = write.getValue();
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<mlir::StringAttr>(i, outputAttrName);
    auto part = function.getResultAttrOfType<mlir::StringAttr>(i, partAttrName);
    std::string full = name ? name.str() : "";
    if (part && (part == "sum" || part == "count"))
      full += "." + part.str();
    if (full == what.name) {
      root = function.getBody().front().getTerminator();
      value = root->getOperand(i);
    }
  }
  return root;
}

/// The ops that a value is computed from, those in their regions included.
llvm::DenseSet<mlir::Operation *> sliceOf(mlir::Value value) {
  llvm::SetVector<mlir::Operation *> open;
  auto add = [&](mlir::Value operand) {
    if (mlir::Operation *op = operand.getDefiningOp())
      open.insert(op);
    else if (mlir::Operation *around = operand.getParentBlock()->getParentOp();
             !llvm::isa<mlir::func::FuncOp>(around))
      open.insert(around);
  };
  add(value);
  llvm::DenseSet<mlir::Operation *> slice;
  for (size_t i = 0; i < open.size(); ++i) {
    mlir::Operation *op = open[i];
    op->walk([&](mlir::Operation *inner) {
      slice.insert(inner);
      for (mlir::Value operand : inner->getOperands())
        add(operand);
    });
  }
  return slice;
}

/// What one microbatch computes is known, and is still wrong as the result of all.
std::optional<Blame> blameRounds(MicrobatchesOp op, llvm::ArrayRef<Tensor> results,
                                 const Known &sums) {
  mlir::Operation *yield = op.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(results)) {
    if (op.getResult(i).use_empty() || sums.has(result))
      continue;
    mlir::Operation *maker = yield->getOperand(i).getDefiningOp();
    mlir::Operation *named = maker ? maker : op.getOperation();
    return Blame{named->getName().getStringRef().str(), named->getLoc(),
                 "over all microbatches it is not what it was"};
  }
  return std::nullopt;
}

} // namespace

std::optional<Blame> blame(mlir::ModuleOp before, mlir::ModuleOp after, const Disagreement &what,
                           const Feed &feed) {
  mlir::Value was, is;
  mlir::Operation *oldRoot = rootOf(before, what, was), *root = rootOf(after, what, is);
  if (!root)
    return oldRoot ? std::optional<Blame>({oldRoot->getName().getStringRef().str(),
                                           oldRoot->getLoc(), "it is there no more"})
                   : std::nullopt;
  Known known = knownTo(before, what.entry, feed), sums;
  (void)observe(before, what.entry, feed, [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    if (llvm::isa<MicrobatchesOp>(op))
      for (const Tensor &result : results)
        sums.add(result);
  });
  llvm::DenseSet<mlir::Operation *> slice = sliceOf(is);
  std::optional<Blame> found;
  (void)observe(after, what.entry, feed, [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    if (found || !slice.contains(op) || llvm::isa<KernelOp>(op))
      return;
    if (auto rounds = llvm::dyn_cast<MicrobatchesOp>(op)) {
      found = blameRounds(rounds, results, sums);
      return;
    }
    for (const Tensor &result : results)
      if (!known.has(result))
        found = Blame{op->getName().getStringRef().str(), op->getLoc(),
                      "nothing before the pass computes what it does"};
  });
  if (found)
    return found;
  return Blame{root->getName().getStringRef().str(),
               was && oldRoot ? (llvm::isa<WriteOp>(root) ? root->getLoc() : was.getLoc())
                              : root->getLoc(),
               "every value was there before, but this result is another one of them now"};
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

std::optional<Blame> blamePlan(mlir::ModuleOp before, mlir::ModuleOp plan, const Disagreement &what,
                               const Feed &feed) {
  Known known = knownTo(before, what.entry, feed);
  CellMemory memory(plan, false);
  Interpreter interpreter;
  PlanInterpreter machine(plan, memory, interpreter);
  std::optional<Blame> found;
  mlir::Operation *inKernel = nullptr;
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    for (const Tensor &result : results)
      if (!found && !inKernel && !known.has(result))
        inKernel = op;
  };
  auto look = [&](mlir::Operation *action, bool written, const char *why) {
    if (found)
      return;
    for (const Access &access : accesses(action, machine, written)) {
      if (known.has(memory.load(access.buffer, access.type)))
        continue;
      found = Blame{nameOf(action, machine), action->getLoc(), why};
      if (written && inKernel) {
        found->op = inKernel->getName().getStringRef().str() + " in " + found->op;
        found->loc = inKernel->getLoc();
      }
      return;
    }
    inKernel = nullptr;
  };
  machine.before = [&](mlir::Operation *action) {
    look(action, false, "it reads what nothing before planning computes: a wrong or stale buffer");
  };
  machine.after = [&](mlir::Operation *action) {
    look(action, true, "it computes what nothing before planning does");
  };
  std::map<std::string, Tensor> variables = feed.variablesFor(what.entry);
  (void)runEntry(machine, memory, plan.lookupSymbol<plan::EntryOp>(what.entry),
                 feed.inputs.at(what.entry), variables);
  if (found)
    return found;
  return Blame{"plan.entry @" + what.entry, what.loc,
               "every action computes what it should, but `" + what.name +
                   "` does not end up where it belongs"};
}

std::optional<Blame> blameOffsets(mlir::ModuleOp plan, const Disagreement &what, const Feed &feed) {
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
