//===- VerifyPlan.cpp - Constraints of the plan dialect -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints that the ops' descriptions number. What can only be seen of a whole entry
// (places, lifetimes, order) is passes/memory/VerifyPlanned.cpp's.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/Attributes.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/transfer/Transfer.h"
#include <cmath>

using namespace mlir;

namespace weir::plan {

static LogicalResult requireTensor(Operation *op, Type type) {
  if (std::string missing = missingOfTensor(type); !missing.empty())
    return op->emitOpError() << "is of type " << type << ": expected " << missing;
  return success();
}

static LogicalResult requireOffset(Operation *op, std::optional<uint64_t> offset) {
  if (offset && (static_cast<int64_t>(*offset) < 0 || *offset % alignment != 0))
    return op->emitOpError() << "lies at " << static_cast<int64_t>(*offset)
                             << ": expected a multiple of " << alignment;
  return success();
}

/// An artifact counts with 32 bits.
static LogicalResult requireNumber(Operation *op, const Twine &what, uint64_t number) {
  if (number > UINT32_MAX)
    return op->emitOpError() << what << " " << static_cast<int64_t>(number)
                             << ": expected a number from 0 to " << UINT32_MAX;
  return success();
}

/// What a place may be made of, so that placeOf() may rely on it.
static LogicalResult requirePlace(Operation *op, Value buffer) {
  if (!isa_and_nonnull<AllocOp, UseOp, PartOp>(buffer.getDefiningOp()))
    return op->emitOpError("touches a buffer that is no plan.alloc, plan.use or plan.part");
  return success();
}

/// The parts that a buffer is one of, the innermost first.
static SmallVector<PartOp> partsOf(Value buffer) {
  SmallVector<PartOp> parts;
  while (auto part = buffer.getDefiningOp<PartOp>()) {
    parts.push_back(part);
    buffer = part.getBuffer();
  }
  return parts;
}

static LogicalResult requireEvent(Operation *op, Value event) {
  if (!event.getDefiningOp<EventOp>())
    return op->emitOpError("names an event that no plan.event makes");
  return success();
}

static LogicalResult requirePlanOps(Operation *op, Block &block) {
  for (Operation &inner : block)
    if (!isa<PlanDialect>(inner.getDialect()))
      return inner.emitOpError() << "stands in a " << op->getName()
                                 << ", where only actions, ports and places may";
  return success();
}

LogicalResult verifyAction(Operation *op) {
  if (failed(requireNumber(op, "is on queue", cast<Action>(op).getQueue())))
    return failure();
  for (Value operand : op->getOperands()) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    if (failed(requirePlace(op, operand)))
      return failure();
    // A part of a part is looked through: each has been verified to be one of a place.
    for (PartOp part : partsOf(operand)) {
      for (Value index : part.getIndices())
        if (auto argument = dyn_cast<BlockArgument>(index);
            !argument || !argument.getOwner()->getParentOp()->isProperAncestor(op))
          return op->emitOpError("touches a part that moves with a loop it does not stand in");
      if (failed(requirePlace(part, part.getBuffer())))
        return failure();
    }
  }
  return success();
}

/// Whether it is of a stage that this rank has no part in.
static bool isElsewhere(VariableOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0 && op.getSharding() &&
         op.getSharding()->getValue().only;
}

/// A plan's rank says how it has the whole tensor: that needs the mesh.
static LogicalResult requireSharding(Operation *op, std::optional<ShardingAttr> sharding) {
  if (!sharding)
    return success();
  auto module = op->getParentOfType<ModuleOp>();
  if (!module || !meshOf(module))
    return op->emitOpError("has a sharding, and its module no weir.mesh");
  return verifySharding(op, "sharding", *sharding, nullptr);
}

LogicalResult VariableOp::verify() {
  if (failed(requireSharding(*this, getSharding())))
    return failure();
  if (!isElsewhere(*this) && failed(requireTensor(*this, getType())))
    return failure();
  return requireOffset(*this, getOffset());
}

LogicalResult KernelOp::verify() {
  auto meanings = getBody().front().getOps<weir::KernelOp>();
  if (!llvm::hasSingleElement(meanings) || !llvm::hasSingleElement(getBody().front()))
    return emitOpError("holds other than one weir.kernel");
  if (getParts().empty())
    return emitOpError("has no part to launch");
  for (size_t part = 0; part < getParts().size(); ++part)
    if (getPart(part).getTasks() < 1 || getPart(part).getThreads() < 1 ||
        getPart(part).getShared() < 0)
      return emitOpError("has a part without tasks");
  SmallVector<std::pair<Mode, int64_t>> known;
  for (Type type : meaning()->getOperandTypes())
    known.push_back({Mode::read, storageBytes(type)});
  for (Type type : meaning()->getResultTypes())
    known.push_back({Mode::write, storageBytes(type)});
  if (getTakes().size() < known.size())
    return emitOpError() << "has " << getTakes().size() << " operands: its meaning has "
                         << known.size();
  for (size_t i = 0; i < getTakes().size(); ++i) {
    auto [mode, bytes] =
        i < known.size() ? known[i] : std::pair(Mode::write, getTaken(i).getBytes());
    if (getTaken(i).getMode() != mode || getTaken(i).getBytes() != bytes || bytes < 0)
      return emitOpError() << "has an operand " << i << " that its meaning has not: expected "
                           << stringifyMode(mode) << " " << bytes;
  }
  if (static_cast<int64_t>(getThreadScratch()) < 0 || static_cast<int64_t>(getFlops()) < 0 ||
      static_cast<int64_t>(getBytes()) < 0)
    return emitOpError("has negative scratch or cost");
  // C5
  if (getRecomputed() > getFlops())
    return emitOpError() << "recomputes " << getRecomputed() << " of " << getFlops() << " FLOPs";
  return success();
}

LogicalResult BlobOp::verify() {
  // C1
  auto type = dyn_cast<RankedTensorType>(getBytes().getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isUnsignedInteger(8) ||
      code().empty() || int64_t(code().size()) != type.getDimSize(0))
    return emitOpError("holds no code: expected a dense_resource of one or more ui8");
  // C2, of all there are: C3 has been verified.
  for (Operation *other = (*this)->getPrevNode(); other; other = other->getPrevNode())
    if (isa<BlobOp>(other))
      return emitOpError("is the second of its module");
  return success();
}

LogicalResult EntryOp::verify() {
  if (getBody().front().getNumArguments() != 0)
    return emitOpError("has a block with arguments: its inputs are ports");
  return requirePlanOps(*this, getBody().front());
}

LogicalResult PortOp::verify() {
  if (failed(requireTensor(*this, getType())) || failed(requirePlace(*this, getBuffer())) ||
      failed(requireSharding(*this, getSharding())))
    return failure();
  auto type = cast<RankedTensorType>(getType());
  if (getKind() != PortKind::input && getKind() != PortKind::tensor &&
      (type.getNumElements() != 1 || storageBytes(type) != 4))
    return emitOpError() << "is of type " << type << ": a " << stringifyPortKind(getKind())
                         << " is one number of four bytes";
  if (failed(requireNumber(*this, "is of term", getTerm())))
    return failure();
  if (!std::isfinite(getWeight().convertToDouble()))
    return emitOpError("has a weight that is not finite");
  bool counts = getKind() == PortKind::input && !isa<FloatType>(type.getElementType());
  if (static_cast<int64_t>(getLimit()) < 0 || (getLimit() != 0 && !counts))
    return emitOpError("has a limit, which only an input of integers has, and which is positive");
  for (PartOp part : partsOf(getBuffer()))
    if (!part.getIndices().empty() || failed(requirePlace(part, part.getBuffer())))
      return emitOpError("is in a part that moves with a loop");
  return success();
}

LogicalResult AllocOp::verify() {
  if (static_cast<int64_t>(getSize()) <= 0)
    return emitOpError("has no bytes");
  if (failed(requireOffset(*this, getOffset())))
    return failure();
  bool placed = getOffset().has_value();
  if (placed != getFirst().has_value() || placed != getLast().has_value())
    return emitOpError("has an offset or a lifetime, but not both");
  if (placed && (failed(requireNumber(*this, "is alive from action", *getFirst())) ||
                 failed(requireNumber(*this, "is alive to action", *getLast()))))
    return failure();
  if (placed && *getFirst() > *getLast())
    return emitOpError("dies before it is born");
  Space space = getResult().getType().getSpace();
  if (space != Space::scratch && space != Space::pinned && space != Space::host)
    return emitOpError() << "lies in " << stringifySpace(space)
                         << " memory: expected scratch, pinned or host";
  return success();
}

LogicalResult UseOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(*this, getVariableAttr());
  if (!variable)
    return emitOpError() << "names no plan.variable: @" << getVariable();
  Space space = getResult().getType().getSpace();
  if (space != variable.space())
    return emitOpError() << "lies in " << stringifySpace(space) << " memory: expected "
                         << stringifySpace(variable.space());
  return success();
}

LogicalResult PartOp::verify() {
  size_t count = getIndices().size();
  if (getStrides().size() != count || getModuli().size() != count)
    return emitOpError() << "moves with " << count << " loops by " << getStrides().size()
                         << " strides and " << getModuli().size() << " moduli";
  for (int64_t modulus : getModuli())
    if (failed(requireNumber(*this, "has a modulus of", modulus)))
      return failure();
  for (Value index : getIndices())
    if (auto argument = dyn_cast<BlockArgument>(index);
        !argument || !isa<LoopOp>(argument.getOwner()->getParentOp()))
      return emitOpError("moves with what is no loop's round");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelOp kernel = kernelOf(*this, symbols);
  if (!kernel)
    return emitOpError() << "launches a kernel that the plan does not have: @" << getKernel();
  if (getPart() >= kernel.getParts().size())
    return emitOpError() << "launches part " << getPart() << " of a kernel of "
                         << kernel.getParts().size();
  if (getOperands().size() != kernel.getTakes().size())
    return emitOpError() << "has " << getOperands().size() << " operands, its kernel takes "
                         << kernel.getTakes().size();
  return success();
}

LogicalResult CallOp::verify() {
  size_t expected = spec::footprints(getCall()).size();
  if (getOperands().size() != expected)
    return emitOpError() << "has " << getOperands().size() << " operands: a "
                         << spec::describe(getCall()) << " takes " << expected;
  return success();
}

LogicalResult CopyOp::verify() {
  if (static_cast<int64_t>(getSize()) <= 0)
    return emitOpError("copies no bytes");
  return success();
}

LogicalResult CollectiveOp::verify() {
  if (llvm::any_of(getBytes(), [](int64_t bytes) { return bytes <= 0; }) ||
      !llvm::is_contained(getBytes(), int64_t(getOwn())))
    return emitOpError() << "has " << getOwn() << " bytes, as no member";
  if (getKind() == CollectiveKind::shift && !llvm::all_equal(getBytes()))
    return emitOpError("shifts what members have more of than others");
  std::optional<Element> element = elementOf(getElement());
  if (!element)
    return emitOpError() << "cannot move elements of " << getElement();
  if (llvm::any_of(getBytes(), [&](int64_t bytes) { return bytes % sizeOf(*element) != 0; }))
    return emitOpError() << "has a member with a part of an element of " << getElement();
  return success();
}

template <class Op> static LogicalResult verifyTransfer(Op op) {
  // C1
  std::optional<Element> element = elementOf(op.getElement());
  if (!element)
    return op.emitOpError() << "cannot move elements of " << op.getElement();
  if (static_cast<int64_t>(op.getSize()) <= 0 || op.getSize() % sizeOf(*element) != 0)
    return op.emitOpError() << "moves " << static_cast<int64_t>(op.getSize())
                            << " bytes, no whole elements of " << op.getElement();
  // C2
  if (op.getNumber() == 0)
    return op.emitOpError("has no number");
  if (failed(requireNumber(op, "has number", op.getNumber())) ||
      failed(requireNumber(op, "is in round", op.getRound())))
    return failure();
  return requireNumber(op, "names peer", op.getPeer());
}

LogicalResult SendOp::verify() { return verifyTransfer(*this); }
LogicalResult ReceiveOp::verify() { return verifyTransfer(*this); }

LogicalResult LoopOp::verify() {
  if (getCount() == 0)
    return emitOpError("has no round");
  if (getCount() > limits::rounds)
    return emitOpError() << "has " << getCount() << " rounds: expected at most " << limits::rounds;
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !isa<IndexType>(block.getArgument(0).getType()))
    return emitOpError("has a body that takes other than one !plan.index");
  return requirePlanOps(*this, block);
}

LogicalResult RecordOp::verify() { return requireEvent(*this, getEvent()); }
LogicalResult WaitOp::verify() { return requireEvent(*this, getEvent()); }

} // namespace weir::plan
