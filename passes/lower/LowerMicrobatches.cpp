//===- LowerMicrobatches.cpp - Loops and sections of microbatches ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/program/Yield.h"
#include "passes/lower/EntryLowering.h"
#include "passes/stages/GatherSections.h"

using namespace mlir;

namespace weir {

/// Carried values live in buffers of their own from round to round.
void EntryLowering::beginCarried(MicrobatchesOp op, SmallVectorImpl<Value> &carried) {
  Location loc = op.getLoc();
  for (auto [i, start] : llvm::enumerate(op.getCarried())) {
    Value buffer = allocate(op.getResult(i), "carried");
    copy(bufferOf.lookup(memoryOf(start)), buffer, start.getType(), loc);
    carried.push_back(buffer);
    bufferOf[op.getBody().front().getArgument(1 + op.getSliced().size() + i)] = buffer;
    bufferOf[op.getResult(i)] = buffer;
  }
}

/// One round: what is carried into it lies in these buffers, and what it carries on is put there.
LogicalResult EntryLowering::lowerBody(MicrobatchesOp op, ArrayRef<Value> carried) {
  Block &body = op.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  Location loc = op.getLoc();
  unsigned firstCarried = 1 + op.getSliced().size();
  for (auto [i, next] : llvm::enumerate(yield.getValues())) {
    Value memory = memoryOf(next);
    // What another section reads later is still there when the next round carries on.
    bool isKept = !everyUse(memory, [](OpOperand &use) { return !isa<KeepOp>(use.getOwner()); });
    if (!targetOf.contains(memory) && !isKept &&
        mayWriteDirectly(memory, {body.getArgument(firstCarried + i)}, body))
      targetOf[memory] = carried[i];
  }
  if (failed(lowerBlock(body)))
    return failure();
  SmallVector<std::pair<Value, unsigned>> late;
  for (auto [i, next] : llvm::enumerate(yield.getValues())) {
    Value from = bufferOf.lookup(memoryOf(next));
    if (from == carried[i])
      continue;
    if (llvm::is_contained(carried, from)) {
      Value kept = allocate(next, "kept value");
      copy(from, kept, next.getType(), loc);
      from = kept;
    }
    late.emplace_back(from, i);
  }
  for (auto [from, i] : late)
    copy(from, carried[i], yield.getValues()[i].getType(), loc);
  return success();
}

/// A loop; slices are parts of their operand.
LogicalResult EntryLowering::lowerMicrobatches(MicrobatchesOp op) {
  if (op.numSums() > 0)
    return op.emitOpError("cannot be planned before its sums are carried (weir-carry-sums)");
  Block &body = op.getBody().front();
  Location loc = op.getLoc();
  Value round = plan::AllocOp::create(builder, loc, 4, "round");
  bufferOf[op.round()] = round;
  SmallVector<Value> carried;
  beginCarried(op, carried);
  auto loop = plan::LoopOp::create(builder, loc, op.getCount(), round);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBody(), {}, plan::IndexType::get(builder.getContext()), loc);
  for (auto [i, whole] : llvm::enumerate(op.getSliced())) {
    int64_t bytes = storageBytes(whole.getType()) / op.getCount();
    bufferOf[body.getArgument(1 + i)] = plan::PartOp::create(
        builder, loc, bufferOf.lookup(memoryOf(whole)), 0, loop.index(), bytes, int64_t(0));
  }
  return lowerBody(op, carried);
}

/// The rounds of all sections, in the order that they say: each computes with memory of its own,
/// which is given back as soon as the plan's order lets it. So what is alive of a microbatch
/// follows from the schedule.
LogicalResult EntryLowering::lowerSections(ArrayRef<MicrobatchesOp> sections) {
  llvm::DenseMap<int64_t, MicrobatchesOp> byNumber;
  llvm::DenseMap<int64_t, SmallVector<Value>> carried;
  for (MicrobatchesOp section : sections) {
    if (section.numSums() > 0)
      return section.emitOpError("cannot be planned before its sums are carried (weir-carry-sums)");
    if (!section.round().use_empty())
      return section.emitOpError("reads its round, which a section gets as a slice");
    int64_t number = section->getAttrOfType<IntegerAttr>(sectionAttrName).getInt();
    byNumber[number] = section;
    beginCarried(section, carried[number]);
  }
  MicrobatchesOp first = sections.front();
  ArrayRef<int64_t> order = first->getAttrOfType<DenseI64ArrayAttr>(orderAttrName).asArrayRef();
  llvm::DenseSet<std::pair<int64_t, int64_t>> done;
  for (size_t i = 0; i + 1 < order.size(); i += 2) {
    int64_t number = order[i];
    microbatch = order[i + 1];
    if (microbatch < 0 || microbatch >= int64_t(first.getCount()))
      return first.emitOpError() << "has no microbatch " << microbatch;
    if (!done.insert({number, microbatch}).second)
      return first.emitOpError() << "computes section " << number << " of microbatch " << microbatch
                                 << " twice: sums would have it twice";
    MicrobatchesOp section = byNumber.lookup(number);
    if (!section)
      continue; // nothing is left of it
    for (auto [j, whole] : llvm::enumerate(section.getSliced())) {
      int64_t bytes = storageBytes(whole.getType()) / section.getCount();
      bufferOf[section.getBody().front().getArgument(1 + j)] = plan::PartOp::create(
          builder, section.getLoc(), bufferOf.lookup(memoryOf(whole)), bytes * microbatch,
          ValueRange(), ArrayRef<int64_t>(), ArrayRef<int64_t>());
    }
    for (KeptOp get : section.getBody().front().getOps<KeptOp>())
      if (!kept.contains({int64_t(get.getNumber()), microbatch}))
        return get.emitOpError() << "is read in section " << number << " of microbatch "
                                 << microbatch << " before it is computed";
    if (failed(lowerBody(section, carried[number])))
      return failure();
  }
  microbatch = 0;
  for (MicrobatchesOp section : sections)
    for (int64_t i = 0; i < computedMicrobatches(section); ++i) {
      int64_t number = section->getAttrOfType<IntegerAttr>(sectionAttrName).getInt();
      if (!done.contains({number, i}))
        return section.emitOpError() << "is never computed for microbatch " << i;
    }
  return success();
}

} // namespace weir
