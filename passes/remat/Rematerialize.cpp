//===- Rematerialize.cpp - Recomputes and offloads activations ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after every pass that forms kernels, orders them or merges equal ones. A recomputed kernel
// is a copy of the first one, with the same code and the same bits, and no later pass merges the
// two again. An offloaded tensor goes to the host as soon as it is computed, and is fetched before
// its first use by a gradient.
//
// Choose.h chooses what to recompute and offload, and passes/buffers models the memory. The actions
// that the model's plan marks are recomputed with any budget (MarkRecomputed.h). A recomputed
// kernel reads parameters that the backward pass gathers again (Regather.h). The pass records the
// saved activations of the step for `weir inspect`.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Program.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/requests/Recompute.h"
#include "mlir/IR/IRMapping.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/buffers/BufferRules.h"
#include "passes/remat/Choose.h"
#include "passes/remat/Explain.h"
#include "passes/remat/MarkRecomputed.h"
#include "passes/remat/OutOfMemoryReport.h"
#include "passes/remat/Regather.h"
#include "passes/remat/Sections.h"
#include "passes/stages/GatherSections.h"
#include "support/Sizes.h"
#include "llvm/Support/FormatVariadic.h"

namespace weir {
#define GEN_PASS_DEF_REMATERIALIZE
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Does in an entry what remat::rewrite does in its model. `released`: no more than what comes
/// back.
class Releaser {
public:
  Releaser(const buffers::EntryStep &entry, const remat::Released &released)
      : entry(entry), boundary(remat::boundaryOf(entry.step)), released(released) {}

  void run() {
    for (int action : llvm::seq(boundary))
      offloadResults(action);
    SmallVector<Operation *> ops; // some move meanwhile
    for (Operation &op : entry.block->without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops) {
      auto at = entry.actionOf.find(op);
      if (at == entry.actionOf.end() || at->second < boundary ||
          at->second >= int(entry.makers.size()) || isAlias(op) ||
          (entry.makers[at->second] != op && !isa<MicrobatchesOp>(op)))
        continue;
      // What a loop starts with comes back ahead of what its body reads, as in the model.
      OpBuilder builder(op);
      op->walk<WalkOrder::PreOrder>([&](Operation *user) {
        if (isa<KernelOp>(user->getParentOp()))
          return;
        for (OpOperand &operand : user->getOpOperands())
          operand.set(nowOf(builder, operand.get()));
      });
    }
  }

private:
  bool isAway(int tensor) const {
    return released.away[tensor] && remat::mayGo(entry.step, tensor);
  }

  void offloadResults(int action) {
    Operation *maker = entry.makers[action], *last = maker;
    for (int made : entry.step.actions[action].writes)
      if (isAway(made)) {
        OpBuilder builder(maker);
        builder.setInsertionPointAfter(last);
        Value value = entry.values[made];
        auto offload = OffloadOp::create(builder, value.getLoc(), value);
        onHost[value] = offload.getResult();
        last = offload;
      }
  }

  /// What a value of the block is from here on.
  Value nowOf(OpBuilder &builder, Value value) {
    Value memory = memoryOf(value);
    auto found = entry.tensorOf.find(memory);
    if (found == entry.tensorOf.end())
      return value;
    int maker = entry.step.tensors[found->second].madeBy;
    bool goes = isAway(found->second);
    if (maker < 0 || maker >= boundary || !(goes || released.again[maker]) ||
        !remat::mayDrop(entry.step, found->second))
      return value;
    if (goes && !now.contains(memory)) {
      now[memory] = ReloadOp::create(builder, memory.getLoc(), onHost.lookup(memory)).getResult();
    } else if (!now.contains(memory)) {
      Operation *original = entry.makers[maker];
      SmallVector<Value> operands;
      for (Value operand : original->getOperands())
        operands.push_back(againOf(builder, operand));
      Operation *copy = builder.clone(*original);
      copy->setOperands(operands);
      copy->setAttr(againAttrName, builder.getUnitAttr());
      for (auto [old, made] : llvm::zip_equal(original->getResults(), copy->getResults()))
        if (!isAway(entry.tensorOf.at(old)))
          now[old] = made;
    }
    return shownAs(builder, value, memory);
  }

  /// The value that a recomputed kernel reads in place of this one. If an all-gather gives it
  /// again, that is the second result.
  Value againOf(OpBuilder &builder, Value value) {
    Value memory = memoryOf(value);
    auto found = entry.tensorOf.find(memory);
    int again = found == entry.tensorOf.end() ? -1 : entry.step.tensors[found->second].regathered;
    if (again < 0)
      return nowOf(builder, value);
    Operation *gather = entry.makers[entry.step.tensors[again].madeBy];
    if (Operation *next = &*builder.getInsertionPoint(); !gather->isBeforeInBlock(next)) {
      for (OpOperand &operand : gather->getOpOperands())
        operand.set(nowOf(builder, operand.get()));
      gather->moveBefore(next);
    }
    now[memory] = entry.values[again];
    return shownAs(builder, value, memory);
  }

  /// What is computed again in the shape of `value`, which shows `memory`.
  Value shownAs(OpBuilder &builder, Value value, Value memory) {
    if (value == memory)
      return now.lookup(memory);
    if (Value known = shown.lookup(value))
      return known;
    Operation *alias = value.getDefiningOp();
    Value below = shownAs(builder, alias->getOperand(0), memory);
    Operation *copy = builder.clone(*alias);
    copy->setOperand(0, below);
    return shown[value] = copy->getResult(0);
  }

  const buffers::EntryStep &entry;
  const int boundary;
  const remat::Released &released;
  llvm::DenseMap<Value, Value> onHost, now, shown;
};

std::string countText(int64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "recomputes 2 of its 9 kernels", "offloads 3 tensors of 1.5 MB to the host", or both; without
/// a number of all kernels, "recomputes 2 kernels".
std::string doingOf(const remat::Step &step, const remat::Released &released, int64_t kernels = 0) {
  int64_t bytes = 0, repeated = llvm::count(released.again, true);
  for (auto [tensor, isAway] : llvm::zip(step.tensors, released.away))
    bytes += isAway ? tensor.bytes : 0;
  std::string computes = "recomputes " + (kernels ? std::to_string(repeated) + " of its " +
                                                        countText(kernels, "kernel")
                                                  : countText(repeated, "kernel"));
  if (!bytes)
    return repeated ? computes : "recomputes nothing";
  std::string puts = "offloads " + countText(llvm::count(released.away, true), "tensor") + " of " +
                     bytesText(bytes) + " to the host";
  return repeated ? computes + " and " + puts : puts;
}

/// "11.4 %" of the time of a step.
std::string priceText(double cost, double total) {
  return llvm::formatv("{0:f1} %", total > 0 ? 100 * cost / total : 0).str();
}

struct Rematerialize : weir::impl::RematerializeBase<Rematerialize> {
  Rematerialize() = default;
  explicit Rematerialize(RematerializeOptions options) : RematerializeBase(options) {}
  Rematerialize(std::shared_ptr<Target> target, MemoryReport *report)
      : made(std::move(target)), report(report) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    RematerializeBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    budget = strategy.memory.value_or(0);
    threads = strategy.threads;
    const Recomputed blocks = Recomputed::of(getOperation());
    getOperation()->removeAttr(recomputeAttrName);
    buffers::KernelFacts facts(*made);
    // The largest first: where it does not fit, that is what to say.
    std::vector<Entry> entries;
    std::vector<std::pair<func::FuncOp, remat::SectionChooser>> ofSections;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      // A step alone turns back.
      if (budget == 0 && !report && function.getSymName() != "step")
        continue;
      if (failed(requireBody(function)))
        return signalPassFailure();
      if (!gatherSections(function.front()).empty()) {
        auto isMarked = [&](KernelOp kernel) { return !blocks.startsOf(kernel).empty(); };
        auto chooser = remat::SectionChooser::of(function, facts, isMarked);
        if (failed(chooser))
          return signalPassFailure();
        ofSections.push_back({function, std::move(*chooser)});
        continue;
      }
      FailureOr<buffers::EntryStep> step =
          buffers::readStep(function, facts, strategy.offload->activations);
      if (failed(step))
        return signalPassFailure();
      remat::markRecomputedActions(*step, blocks);
      remat::findRegathered(*step);
      remat::Released marked = remat::marked(step->step);
      remat::Rewritten rewritten =
          remat::rewrite(step->step, remat::boundaryOf(step->step), marked);
      int64_t bytes = buffers::measure(rewritten.step).bytes;
      entries.push_back({function, std::move(*step), {std::move(marked), rewritten.cost, bytes}});
    }
    int64_t inputs = 0;
    for (auto function : getOperation().getOps<func::FuncOp>())
      inputs = std::max(inputs, inputBytes(function));
    Reserve reserve = reserveOf(*made, threads, facts.threadScratch(), inputs, facts.hasCalls());
    remat::ResidentMemory taken(getOperation(), reserve, threads);
    if (report) {
      report->persistent = taken.bytes();
      report->ofThread = reserve.threads / threads;
      noteVariables();
    }
    llvm::stable_sort(
        entries, [](const Entry &a, const Entry &b) { return a.choice.bytes > b.choice.bytes; });
    for (auto &[function, chooser] : ofSections)
      if (failed(fit(function, chooser, taken, entries.empty() ? 0 : entries[0].choice.bytes)))
        return signalPassFailure();
    for (auto [i, entry] : llvm::enumerate(entries)) {
      int64_t next = i + 1 < entries.size() ? entries[i + 1].choice.bytes : 0;
      if (failed(fit(entry, taken, next)))
        return signalPassFailure();
      if (entry.function.getSymName() == "step" && isExplained())
        setSavedActivationsReport(getOperation(),
                                  remat::explain(entry.step, entry.choice.released));
      Releaser(entry.step, entry.choice.released).run();
    }
  }

private:
  static int64_t inputBytes(func::FuncOp function) {
    int64_t bytes = 0;
    for (Type type : function.getArgumentTypes())
      bytes += storageBytes(type);
    return bytes;
  }

  /// Whether anybody reads what is said.
  bool isExplained() const { return !report || report->explained; }

  struct Entry {
    func::FuncOp function;
    buffers::EntryStep step;
    remat::Choice choice; ///< at first, what is marked
  };

  /// Chooses what is released. `next`: what the entry takes that takes most of those behind it.
  LogicalResult fit(Entry &one, const remat::ResidentMemory &resident, int64_t next) {
    auto &[function, entry, choice] = one;
    int64_t taken = resident.bytes();
    int64_t room = budget - taken, bytes = choice.bytes;
    double total = 0; // with nothing repeated
    for (const remat::Action &action : entry.step.actions)
      total += action.cost;
    if (budget == 0 || bytes <= room) {
      note(function, bytes + taken, total + choice.cost, true);
      return success();
    }
    if (room <= 0) {
      note(function, bytes + taken, total + choice.cost, false);
      if (!isExplained())
        return failure();
      auto error = emitError(function.getLoc())
                   << "does not fit in " << bytesText(budget) << ": " << resident.words()
                   << " alone need " << bytesText(taken);
      resident.note(error);
      remat::Chooser chooser(entry.step);
      int64_t least = chooser.within(0).best.bytes;
      noteLeast(error, function, entry, chooser, std::max(least, next), taken, total);
      return error;
    }
    remat::Chooser chooser(entry.step);
    remat::Choices choices = chooser.within(room, isExplained());
    note(function, choices.best.bytes + taken, total + choices.best.cost, choices.fits);
    if (!choices.fits)
      return refuse(function, entry, chooser, choices, resident, next, total);
    choice = choices.best;
    int64_t kernels =
        llvm::count_if(entry.makers, [](Operation *op) { return isa_and_nonnull<KernelOp>(op); });
    emitRemark(function.getLoc()) << "to fit in " << bytesText(budget) << ", @"
                                  << function.getSymName() << " "
                                  << doingOf(entry.step, choice.released, kernels) << ": "
                                  << bytesText(choice.bytes + taken) << " instead of "
                                  << bytesText(bytes + taken) << ", "
                                  << priceText(choice.cost, total) << " more time (at least "
                                  << priceText(choices.bound, total) << ")";
    return success();
  }

  /// The same of an entry with sections, whose choices are few.
  LogicalResult fit(func::FuncOp function, remat::SectionChooser &chooser,
                    const remat::ResidentMemory &resident, int64_t next) {
    int64_t taken = resident.bytes(), room = budget - taken;
    FailureOr<remat::SectionChoice> choice = chooser.least();
    bool fits = budget == 0 || choice->bytes <= room;
    if (!fits && (room > 0 || isExplained())) {
      choice = room > 0 ? chooser.within(room) : chooser.all();
      if (failed(choice))
        return failure();
      fits = choice->bytes <= room;
    }
    note(function, choice->bytes + taken, chooser.seconds() + choice->cost, fits);
    std::string computes = "recomputes " + std::to_string(choice->again.size()) + " of its " +
                           countText(int64_t(chooser.kernels()), "forward kernel") + ", " +
                           priceText(choice->cost, chooser.seconds()) + " more time";
    std::string name = "@" + function.getSymName().str();
    if (auto rank = getOperation()->getAttrOfType<IntegerAttr>(rankAttrName))
      name += " of rank " + std::to_string(rank.getInt());
    if (!fits) {
      if (!isExplained())
        return failure();
      auto error = emitError(function.getLoc())
                   << name << " does not fit in " << bytesText(budget) << ": " << bytesText(taken)
                   << " is always in use (" << resident.words()
                   << "), and the smallest memory plan found needs another "
                   << bytesText(choice->bytes) << ": it " << computes << "; expected --memory "
                   << std::max(choice->bytes, next) + taken << " or more for this rank";
      resident.note(error);
      return error;
    }
    if (choice->bytes != chooser.least().bytes)
      emitRemark(function.getLoc()) << "to fit in " << bytesText(budget) << ", " << name << " "
                                    << computes << ": " << bytesText(choice->bytes + taken)
                                    << " instead of " << bytesText(chooser.least().bytes + taken);
    chooser.apply(*choice);
    return success();
  }

  void noteVariables() {
    for (auto variable : getOperation().getOps<VariableOp>()) {
      int64_t bytes = storageBytes(typeHere(variable));
      if (variable.getHost() || bytes < smallestOffloaded)
        continue;
      if (variable.getRole() == Role::parameter)
        report->parameters += bytes;
      else if (variable.getRole() == Role::optimizer)
        report->optimizer += bytes;
    }
  }

  void note(func::FuncOp function, int64_t bytes, double seconds, bool fits) {
    if (!report)
      return;
    report->bytes = std::max(report->bytes, bytes);
    report->fits &= fits;
    if (function.getSymName() == "step")
      report->seconds = seconds;
  }

  LogicalResult refuse(func::FuncOp function, const buffers::EntryStep &entry,
                       remat::Chooser &chooser, const remat::Choices &choices,
                       const remat::ResidentMemory &resident, int64_t next, double total) {
    if (!isExplained())
      return failure();
    remat::Rewritten least =
        remat::rewrite(entry.step, remat::boundaryOf(entry.step), choices.best.released);
    int64_t bytes = buffers::measure(least.step).bytes, taken = resident.bytes();
    auto error =
        emitError(function.getLoc())
        << "@" << function.getSymName() << " does not fit in " << bytesText(budget) << ": "
        << (taken ? bytesText(taken) + " is always in use (" + resident.words() + "), and " : "")
        << "the smallest memory plan found needs " << (taken ? "another " : "") << bytesText(bytes)
        << ": it " << doingOf(entry.step, choices.best.released) << ", "
        << priceText(choices.best.cost, total) << " more time";
    remat::noteAlive(error, entry, least.step);
    noteLeast(error, function, entry, chooser, std::max(bytes, next), taken, total);
    return error;
  }

  /// Notes what is enough: `least`, which the smallest choice takes, or more.
  void noteLeast(InFlightDiagnostic &error, func::FuncOp function, const buffers::EntryStep &entry,
                 remat::Chooser &chooser, int64_t least, int64_t taken, double total) {
    remat::Choices choices = chooser.within(least);
    assert(choices.fits && "the smallest fits into what it takes");
    error.attachNote(function.getLoc()) << "--memory " << least + taken << " is enough: it "
                                        << doingOf(entry.step, choices.best.released) << ", "
                                        << priceText(choices.best.cost, total) << " more time";
  }

  PassTarget made;
  MemoryReport *report = nullptr;
  int64_t budget = 0, threads = 1; ///< of the module's strategy
};

} // namespace

std::unique_ptr<Pass> weir::createRematerialize(std::shared_ptr<Target> target,
                                                MemoryReport *report) {
  return std::make_unique<Rematerialize>(std::move(target), report);
}
