//===- Sections.cpp - Sections of microbatches ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/stages/Sections.h"
#include "ir/weir/Phase.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "passes/stages/SavedActivations.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weir::stages {
namespace {

class Cutter {
public:
  Cutter(MicrobatchesOp loop, const Here &here, const Schedule &schedule,
         function_ref<int64_t(Operation *)> stageOfOp, function_ref<int64_t(Value)> stageOfValue)
      : loop(loop), body(loop.getBody().front()), here(here), schedule(schedule),
        stageOfOp(stageOfOp), stageOfValue(stageOfValue) {}

  LogicalResult run() {
    // For all stages: they number microbatches alike, also a loop without gradients.
    for (Operation &op : body.without_terminator())
      hasGradients |= isBackward(&op) && stageOfOp(&op) != everywhere;
    // A send states its microbatch, so these rounds are not a loop of the plan.
    isOrdered = hasGradients || llvm::any_of(body, [](Operation &op) { return isTransfer(&op); });
    count = hasGradients ? here.chunks * (schedule.splitsWeights ? 3 : 2) : 1;
    for (Operation &op : body.without_terminator())
      if (here.has(stageOfOp(&op)))
        sectionOf[&op] = firstSection(&op);
    if (hasGradients && schedule.splitsWeights)
      splitWeights();
    if (hasGradients) {
      placeDrawn(body, sectionOf);
      again = computedAgain(body, sectionOf);
    }
    placeResults();
    for (int64_t section = 0; section < count; ++section)
      if (failed(make(section)))
        return failure();
    if (isOrdered)
      sayOrder();
    return success();
  }

private:
  /// The sections in an order in which each reads only earlier ones.
  int64_t number(Slot::Kind kind, int64_t chunk) const {
    if (!hasGradients)
      return 0;
    if (kind == Slot::forward)
      return chunk;
    int64_t back = here.chunks - 1 - chunk;
    if (!schedule.splitsWeights)
      return here.chunks + back;
    return here.chunks + 2 * back + (kind == Slot::weights ? 1 : 0);
  }

  int64_t firstSection(Operation *op) {
    int64_t section = anySection, stage = stageOfOp(op);
    const bool goesBack = isBackward(op);
    if (stage != everywhere)
      section = number(goesBack ? Slot::backward : Slot::forward, stage / here.ranks);
    else if (isTransfer(op)) // of a value that all stages receive
      section = goesBack ? number(Slot::backward, here.chunks - 1) : 0;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        if (auto found = sectionOf.find(maker); found != sectionOf.end())
          section = std::max(section, found->second);
    return section;
  }

  /// Whether it contributes only to the gradients of parameters.
  void splitWeights() {
    int64_t forward = here.chunks;
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      auto found = sectionOf.find(&op);
      if (found == sectionOf.end() || found->second < forward || !isMemoryEffectFree(&op) ||
          op.use_empty())
        continue;
      Operation *only = nullptr;
      bool joins = llvm::all_of(op.getUsers(), [&](Operation *user) {
        bool isFirst = !only || only == user;
        only = user;
        if (user == body.getTerminator())
          return isFirst;
        auto of = sectionOf.find(user);
        return isFirst && of != sectionOf.end() && of->second == found->second + 1;
      });
      if (joins)
        ++found->second;
    }
  }

  /// The section in which a result is summed or carried. A carried value belongs to the stage of
  /// its initial value, although any stage may compute its next one.
  void placeResults() {
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      Operation *maker = value.getDefiningOp();
      auto found = maker ? sectionOf.find(maker) : sectionOf.end();
      bool isHere = here.has(
          stageOfValue(i < loop.numSums() ? value : loop.getCarried()[i - loop.numSums()]));
      int64_t section = found == sectionOf.end() ? 0 : std::max<int64_t>(0, found->second);
      resultSection.push_back(isHere ? section : -2);
    }
  }

  unsigned firstCarried() { return 1 + unsigned(loop.getSliced().size()); }

  LogicalResult make(int64_t section) {
    OpBuilder outer(loop);
    Made &made = sections.emplace_back();
    Region region;
    Block &block = region.emplaceBlock();
    Location loc = loop.getLoc();
    OpBuilder builder(loop.getContext());
    builder.setInsertionPointToEnd(&block);
    SmallVector<Value> sliced, carried;
    made.mapping.map(body.getArgument(0), block.addArgument(body.getArgument(0).getType(), loc));
    for (auto [i, whole] : llvm::enumerate(loop.getSliced()))
      if (here.has(stageOfValue(whole))) {
        BlockArgument old = body.getArgument(1 + unsigned(i));
        made.mapping.map(old, block.addArgument(old.getType(), old.getLoc()));
        sliced.push_back(whole);
      }
    // Sections are not rounds of one loop, so the number of the microbatch is a slice, too.
    if (isOrdered) {
      auto type = RankedTensorType::get({int64_t(loop.getCount())}, outer.getI32Type());
      Value rounds = IotaOp::create(outer, loc, type, int64_t(0));
      Value one = block.addArgument(RankedTensorType::get({1}, outer.getI32Type()), loc);
      sliced.push_back(rounds);
      made.mapping.map(
          body.getArgument(0),
          ReduceOp::create(builder, loc, one, Reduction::sum, ArrayRef<int64_t>{0}).getResult());
    }
    unsigned sums = loop.numSums();
    SmallVector<Type> types;
    SmallVector<unsigned> numbers; // of the results
    for (auto [i, of] : llvm::enumerate(resultSection)) {
      if (of != section)
        continue;
      numbers.push_back(unsigned(i));
      types.push_back(loop.getResult(unsigned(i)).getType());
      if (i < sums)
        continue;
      BlockArgument old = body.getArgument(firstCarried() + unsigned(i) - sums);
      made.mapping.map(old, block.addArgument(old.getType(), old.getLoc()));
      carried.push_back(loop.getCarried()[i - sums]);
    }
    for (Operation &op : body.without_terminator()) {
      auto found = sectionOf.find(&op);
      if (found != sectionOf.end() && found->second == section &&
          failed(copy(&op, section, builder)))
        return failure();
    }
    SmallVector<Value> yielded;
    for (unsigned i : numbers) {
      Value value = body.getTerminator()->getOperand(i);
      if (failed(bring(value, section, builder)))
        return failure();
      yielded.push_back(made.mapping.lookupOrDefault(value));
    }
    YieldOp::create(builder, loc, yielded);
    auto cut = MicrobatchesOp::create(outer, loc, types, loop.getCountAttr(), sliced, carried);
    cut.getBody().takeBody(region);
    made.loop = cut;
    if (isOrdered)
      cut->setAttr(sectionAttrName, outer.getI64IntegerAttr(section));
    for (auto [i, result] : llvm::zip_equal(numbers, cut.getResults()))
      loop.getResult(i).replaceAllUsesWith(result);
    return success();
  }

  LogicalResult copy(Operation *op, int64_t section, OpBuilder &builder) {
    for (Value operand : op->getOperands())
      if (failed(bring(operand, section, builder)))
        return failure();
    builder.clone(*op, sections.back().mapping);
    return success();
  }

  /// Makes a value of the body available in the current section.
  LogicalResult bring(Value value, int64_t section, OpBuilder &builder) {
    IRMapping &mapping = sections.back().mapping;
    if (mapping.contains(value) || value.getParentBlock() != &body)
      return success();
    int64_t home = anySection;
    if (Operation *maker = value.getDefiningOp()) {
      auto found = sectionOf.find(maker);
      if (found == sectionOf.end())
        return maker->emitOpError("is of another stage than who reads it");
      // A cheap value is computed again, and a view of a buffer is rebuilt on the saved value.
      FusionClass kind = fusionClass(maker);
      home = found->second;
      if (home == anySection || kind == FusionClass::cheap || kind == FusionClass::alias ||
          again.contains(maker))
        return copy(maker, section, builder);
    } else {
      // A carried value is passed on where its next value is computed.
      unsigned number = cast<BlockArgument>(value).getArgNumber();
      if (number >= firstCarried())
        home = resultSection[loop.numSums() + number - firstCarried()];
      if (home < 0)
        return loop.emitOpError("carries on what is of another stage than who reads it");
    }
    if (home >= section)
      return emitError(value.getLoc())
             << "this value is carried from one microbatch to the next, which the pipeline starts "
                "before the value is known: expected another --schedule, or a --mesh without pp";
    auto [known, isNew] = saved.try_emplace(value, int64_t(saved.size()) + 1);
    if (isNew) {
      Made &made = sections[size_t(home)];
      OpBuilder end(made.loop.getBody().front().getTerminator());
      SaveOp::create(end, value.getLoc(), made.mapping.lookup(value), known->second);
    }
    auto get = SavedOp::create(builder, value.getLoc(), value.getType(), known->second);
    setPhase(get, Phases().of(value));
    mapping.map(value, get.getResult());
    return success();
  }

  void sayOrder() {
    Pipe pipe{here.ranks, here.chunks, computedMicrobatches(loop)};
    SmallVector<int64_t> order;
    if (hasGradients)
      for (const Slot &slot : schedule.order(pipe, here.rank))
        llvm::append_values(order, number(slot.kind, slot.chunk), slot.microbatch);
    else
      for (int64_t microbatch = 0; microbatch < pipe.microbatches; ++microbatch)
        llvm::append_values(order, int64_t(0), microbatch);
    for (Made &made : sections) {
      made.loop->setAttr(orderAttrName, DenseI64ArrayAttr::get(loop.getContext(), order));
      if (Attribute sampled = loop->getAttr(sampledAttrName))
        made.loop->setAttr(sampledAttrName, sampled);
    }
  }

  struct Made {
    MicrobatchesOp loop;
    IRMapping mapping;
  };

  MicrobatchesOp loop;
  Block &body;
  const Here &here;
  const Schedule &schedule;
  function_ref<int64_t(Operation *)> stageOfOp;
  function_ref<int64_t(Value)> stageOfValue;
  bool hasGradients = false;
  bool isOrdered = false; ///< its rounds are separate actions of the plan
  int64_t count = 1;
  SectionOf sectionOf;                ///< of this rank's ops
  llvm::DenseSet<Operation *> again;  ///< recomputed by later sections
  SmallVector<int64_t> resultSection; ///< -2: on another rank
  std::vector<Made> sections;
  llvm::DenseMap<Value, int64_t> saved; ///< by number
};

} // namespace

LogicalResult cutIntoSections(MicrobatchesOp loop, const Here &here, const Schedule &schedule,
                              function_ref<int64_t(Operation *)> stageOfOp,
                              function_ref<int64_t(Value)> stageOfValue) {
  return Cutter(loop, here, schedule, stageOfOp, stageOfValue).run();
}

} // namespace weir::stages
