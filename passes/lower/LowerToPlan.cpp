//===- LowerToPlan.cpp - From kernels to a plan ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Program.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/requests/Recompute.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/lower/CheckEntry.h"
#include "passes/lower/EntryLowering.h"
#include "passes/lower/KernelTable.h"
#include "passes/stages/GatherSections.h"

namespace weir {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;

namespace weir {

/// What lies together of a value of one dimension or two.
static int64_t bytesOfRow(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return storageBytes(value.getType()) / (shape.size() == 1 ? 1 : shape[0]);
}

/// The op of `block` that contains the user.
static Operation *ancestorIn(Block &block, Operation *user) {
  return block.findAncestorOpInBlock(*user);
}

FailureOr<const KernelTable::Entry *> EntryLowering::entryOf(KernelOp kernel) {
  const KernelTable::Entry *&known = entries[kernel];
  if (known)
    return known;
  auto entry = kernels.of(kernel);
  if (succeeded(entry))
    known = *entry;
  return entry;
}

Value EntryLowering::use(StringRef variable, Location loc) {
  Value &value = uses[variable];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    Block *entry = builder.getInsertionBlock();
    while (!isa<plan::EntryOp>(entry->getParentOp()))
      entry = entry->getParentOp()->getBlock();
    builder.setInsertionPointToStart(entry);
    value = plan::UseOp::create(builder, loc, variables.lookup(variable));
  }
  return value;
}

Value EntryLowering::allocate(Value tensor, StringRef label) {
  return plan::AllocOp::create(builder, resultLocation(tensor), storageBytes(tensor.getType()),
                               label);
}

Value EntryLowering::allocateOnHost(Value tensor) {
  return plan::AllocOp::create(builder, resultLocation(tensor), storageBytes(tensor.getType()),
                               "put", plan::Space::host);
}

void EntryLowering::copy(Value from, Value to, Type tensor, Location loc) {
  plan::CopyOp::create(builder, loc, from, to, builder.getI64IntegerAttr(storageBytes(tensor)));
}

/// Whether a kernel's result, or what is unpacked, may be stored where the old values are: whoever
/// else reads those has done so, and the kernel itself reads each element before it writes it.
bool EntryLowering::mayWriteDirectly(Value value, ArrayRef<Value> oldValues, Block &block) {
  Operation *maker = value.getDefiningOp();
  if (!isa_and_nonnull<KernelOp, UnpackOp>(maker) || maker->getBlock() != &block)
    return false;
  auto kernel = dyn_cast<KernelOp>(maker);
  return llvm::all_of(oldValues, [&](Value old) {
    return everyUse(old, [&](OpOperand &use) {
      Operation *user = ancestorIn(block, use.getOwner());
      // Another variable gets the old value, by a copy at the entry's end.
      if (isLate(use.getOwner()))
        return false;
      if (!user || user->isBeforeInBlock(maker))
        return true;
      if (user != kernel || kernels.isCall(kernel))
        return false;
      auto entry = entryOf(kernel);
      std::pair<unsigned, unsigned> pair(cast<OpResult>(value).getResultNumber(),
                                         use.getOperandNumber());
      return succeeded(entry) && llvm::is_contained((*entry)->schedule.inPlace, pair);
    });
  });
}

void EntryLowering::findTargets(Block &block) {
  llvm::StringMap<SmallVector<Value>> reads;
  function.walk([&](ReadOp read) { reads[read.getVariable()].push_back(read.getResult()); });
  for (WriteOp write : block.getOps<WriteOp>()) {
    Value memory = memoryOf(write.getValue());
    if (isOfHost(write))
      continue;
    if (!targetOf.contains(memory) && mayWriteDirectly(memory, reads[write.getVariable()], block))
      targetOf[memory] = use(write.getVariable(), write.getLoc());
  }
}

LogicalResult EntryLowering::run() {
  Block &block = function.front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    Value buffer = allocate(argument, "input");
    bufferOf[argument] = buffer;
    auto name = function.getArgAttrOfType<StringAttr>(i, inputAttrName);
    auto limit = function.getArgAttrOfType<IntegerAttr>(i, limitAttrName);
    plan::PortOp::create(builder, argument.getLoc(),
                         plan::PortKindAttr::get(builder.getContext(), plan::PortKind::input), name,
                         TypeAttr::get(argument.getType()), buffer, builder.getI64IntegerAttr(0),
                         builder.getF64FloatAttr(1.0), limit ? limit : builder.getI64IntegerAttr(0),
                         function.getArgAttrOfType<StringAttr>(i, limitConfigAttrName),
                         function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName));
  }
  gatherSections(block); // which read of a variable is the last depends on the order
  findTargets(block);
  if (failed(lowerBlock(block)))
    return failure();

  // Outputs that are the old value of a variable are kept before the variables get their new ones.
  auto result = cast<func::ReturnOp>(block.getTerminator());
  SmallVector<Value> outputs;
  for (Value value : result.getOperands()) {
    Value buffer = bufferOf.lookup(memoryOf(value));
    if (isa<plan::UseOp>(plan::placeOf(buffer).memory)) {
      Value own = allocate(value, "output");
      copy(buffer, own, value.getType(), value.getLoc());
      buffer = own;
    }
    outputs.push_back(buffer);
  }
  SmallVector<std::tuple<Value, Value, WriteOp>> late;
  for (WriteOp write : block.getOps<WriteOp>()) {
    if (isOfHost(write))
      continue;
    Value from = bufferOf.lookup(memoryOf(write.getValue())),
          to = use(write.getVariable(), write.getLoc());
    if (from == to)
      continue;
    if (isa<plan::UseOp>(plan::placeOf(from).memory) &&
        memoryOf(write.getValue()).getDefiningOp<ReadOp>()) {
      Value kept = allocate(write.getValue(), "kept value");
      copy(from, kept, write.getValue().getType(), write.getLoc());
      from = kept;
    }
    late.emplace_back(from, to, write);
  }
  for (auto &[from, to, write] : late)
    copy(from, to, write.getValue().getType(), write.getLoc());

  for (auto [i, buffer] : llvm::enumerate(outputs)) {
    auto attribute = [&](StringRef name) { return function.getResultAttr(i, name); };
    auto kind = plan::symbolizePortKind(cast<StringAttr>(attribute(partAttrName)).getValue());
    auto term = dyn_cast_or_null<IntegerAttr>(attribute(termAttrName));
    auto weight = dyn_cast_or_null<FloatAttr>(attribute(weightAttrName));
    plan::PortOp::create(builder, result.getOperand(i).getLoc(),
                         plan::PortKindAttr::get(builder.getContext(), *kind),
                         cast<StringAttr>(attribute(outputAttrName)),
                         TypeAttr::get(result.getOperand(i).getType()), buffer,
                         term ? term : builder.getI64IntegerAttr(0),
                         weight ? weight : builder.getF64FloatAttr(1.0),
                         builder.getI64IntegerAttr(0), StringAttr(), ShardingAttr());
  }
  return success();
}

LogicalResult EntryLowering::lowerBlock(Block &block) {
  SmallVector<MicrobatchesOp> sections = gatherSections(block);
  for (Operation &op : block.without_terminator()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      bufferOf[read.getResult()] = use(read.getVariable(), read.getLoc());
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      Block *actions = builder.getInsertionBlock();
      Operation *before = actions->empty() ? nullptr : &actions->back();
      if (failed(lowerKernel(kernel)))
        return failure();
      if (kernel->hasAttr(againAttrName))
        for (Operation *made = before ? before->getNextNode() : &actions->front(); made;
             made = made->getNextNode())
          if (isa<plan::Action>(made))
            made->setAttr(againAttrName, builder.getUnitAttr());
    } else if (auto microbatches = dyn_cast<MicrobatchesOp>(op)) {
      if (!microbatches->hasAttr(orderAttrName)) {
        if (failed(lowerMicrobatches(microbatches)))
          return failure();
      } else if (microbatches == sections.front() && failed(lowerSections(sections))) {
        return failure();
      }
    } else if (auto keep = dyn_cast<KeepOp>(op)) {
      lowerKeep(keep);
    } else if (auto get = dyn_cast<KeptOp>(op)) {
      bufferOf[get.getResult()] = kept.lookup({int64_t(get.getNumber()), microbatch});
    } else if (isTransfer(&op)) {
      lowerTransfer(&op);
    } else if (auto fetch = dyn_cast<FetchOp>(op)) {
      Value buffer = bufferOf[fetch.getResult()] = allocate(fetch.getResult(), "fetched");
      copy(bufferOf.lookup(memoryOf(fetch.getValue())), buffer, fetch.getType(), fetch.getLoc());
    } else if (auto put = dyn_cast<PutOp>(op)) {
      Value buffer = bufferOf[put.getResult()] = allocateOnHost(put.getResult());
      copy(bufferOf.lookup(memoryOf(put.getValue())), buffer, put.getType(), put.getLoc());
    } else if (isCollective(&op)) {
      lowerCollective(&op);
    } else if (isPacking(&op)) {
      lowerPacked(&op);
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      if (isOfHost(write))
        copy(bufferOf.lookup(memoryOf(write.getValue())), use(write.getVariable(), write.getLoc()),
             write.getValue().getType(), write.getLoc());
    } else if (!isAlias(&op)) {
      return op.emitError("cannot be planned");
    }
  }
  return success();
}

void EntryLowering::lowerKeep(KeepOp op) {
  Value memory = memoryOf(op.getInput()), buffer = bufferOf.lookup(memory);
  // What is carried into a round is written over in the next.
  if (isa<BlockArgument>(memory)) {
    Value from = buffer;
    buffer = allocate(op.getInput(), "kept value");
    copy(from, buffer, op.getInput().getType(), op.getLoc());
  }
  kept[{int64_t(op.getNumber()), microbatch}] = buffer;
}

void EntryLowering::lowerCollective(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  CollectiveFacts facts = factsOf(op);
  int64_t row = storageBytes(input.getType()) / shapeOf(input)[0];
  SmallVector<int64_t> bytes;
  for (int64_t count : facts.rows)
    bytes.push_back(count * row);
  Value buffer = bufferOf[result] =
      allocate(result, isa<CollectivePermuteOp>(op) ? "of the rank before" : "of all ranks");
  plan::CollectiveOp::create(builder, op->getLoc(), plan::CollectiveKind(facts.kind), facts.axis,
                             bufferOf.lookup(memoryOf(input)), buffer, bytes, facts.own * row,
                             tensorType(input).getElementType(), facts.number);
}

void EntryLowering::lowerTransfer(Operation *op) {
  auto send = dyn_cast<SendOp>(op);
  auto receive = dyn_cast<ReceiveOp>(op);
  Value value = send ? send.getInput() : receive.getResult();
  if (receive)
    bufferOf[value] = allocate(value, "received");
  Value buffer = bufferOf.lookup(memoryOf(value));
  int64_t size = storageBytes(value.getType());
  Type element = tensorType(value).getElementType();
  if (send)
    plan::SendOp::create(builder, op->getLoc(), buffer, size, element, send.getAxis(),
                         send.getPeer(), send.getNumber(), microbatch);
  else
    plan::ReceiveOp::create(builder, op->getLoc(), buffer, size, element, receive.getAxis(),
                            receive.getPeer(), receive.getNumber(), microbatch);
}

/// A copy for each part, in each row.
void EntryLowering::lowerPacked(Operation *op) {
  bool packs = isa<PackOp>(op);
  Value whole = packs ? op->getResult(0) : op->getOperand(0);
  for (Value made : op->getResults()) {
    Value &buffer = bufferOf[made] = targetOf.lookup(made);
    if (!buffer)
      buffer = allocate(made, packs ? "packed" : "unpacked");
  }
  Location loc = op->getLoc();
  SmallVector<Value> indices;
  OpBuilder::InsertionGuard guard(builder);
  if (ArrayRef<int64_t> shape = shapeOf(whole); shape.size() == 2) {
    auto loop = plan::LoopOp::create(builder, loc, shape[0],
                                     plan::AllocOp::create(builder, loc, 4, "round"));
    builder.createBlock(&loop.getBody(), {}, plan::IndexType::get(builder.getContext()), loc);
    indices.push_back(loop.index());
  }
  auto rowOf = [&](Value value, int64_t first) -> Value {
    Value buffer = bufferOf.lookup(memoryOf(value));
    if (indices.empty() && !first)
      return buffer;
    SmallVector<int64_t> strides(indices.size(), bytesOfRow(value)), moduli(indices.size(), 0);
    return plan::PartOp::create(builder, loc, buffer, first, indices, strides, moduli);
  };
  int64_t first = 0;
  ValueRange parts = packs ? ValueRange(op->getOperands()) : ValueRange(op->getResults());
  SmallVector<Location> lines = locationsOfAll(loc, parts.size());
  const Location *line = lines.begin();
  for (Value part : parts) {
    int64_t bytes = bytesOfRow(part);
    Value own = rowOf(part, 0), inWhole = rowOf(whole, first);
    plan::CopyOp::create(builder, *line++, packs ? own : inWhole, packs ? inWhole : own,
                         builder.getI64IntegerAttr(bytes));
    first += bytes;
  }
}

LogicalResult EntryLowering::lowerKernel(KernelOp kernel) {
  SmallVector<Value> inputs, results;
  for (Value input : kernel.getInputs())
    inputs.push_back(bufferOf.lookup(memoryOf(input)));
  FailureOr<const KernelTable::Entry *> entry = static_cast<const KernelTable::Entry *>(nullptr);
  if (!kernels.isCall(kernel) && failed(entry = entryOf(kernel)))
    return failure();

  // An input that dies here lends its place to a result that is computed element by element from
  // it. What is kept for another section does not die here, wherever its weir.keep stands.
  auto borrowed = [&](unsigned result) -> Value {
    if (!*entry)
      return {};
    for (auto [to, from] : (*entry)->schedule.inPlace) {
      Value input = memoryOf(kernel.getInputs()[from]);
      if (to != result || input.getParentBlock() != kernel->getBlock() ||
          isa<BlockArgument>(input) || isa_and_nonnull<KeptOp>(input.getDefiningOp()) ||
          storageBytes(input.getType()) != storageBytes(kernel.getResult(result).getType()) ||
          llvm::is_contained(results, inputs[from]) ||
          !isa<plan::AllocOp>(inputs[from].getDefiningOp()))
        continue;
      unsigned here = 0;
      bool dies = everyUse(input, [&](OpOperand &use) {
        Operation *user = ancestorIn(*kernel->getBlock(), use.getOwner());
        if (user == kernel)
          return ++here == 1;
        return user && user->isBeforeInBlock(kernel) && !isLate(use.getOwner()) &&
               !isa<KeepOp>(use.getOwner());
      });
      if (dies && here == 1)
        return inputs[from];
    }
    return {};
  };
  for (Value result : kernel.getResults()) {
    Value buffer = targetOf.lookup(result);
    if (!buffer)
      buffer = borrowed(cast<OpResult>(result).getResultNumber());
    if (!buffer)
      buffer = allocate(result, resultLabel(result));
    bufferOf[result] = buffer;
    results.push_back(buffer);
  }
  if (kernels.isCall(kernel))
    return kernels.call(builder, kernel, {inputs, results.front()});
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, results);
  if (int64_t size = (*entry)->schedule.workspace)
    operands.push_back(plan::AllocOp::create(builder, kernel.getLoc(), size, "partial sums"));
  SmallVector<Location> locations;
  for (Operation &op : kernel.getBody().front().without_terminator())
    locations.push_back(op.getLoc());
  Location loc = locationOfAll(builder.getContext(), locations);
  plan::KernelOp planned = (*entry)->op;
  for (size_t part = 0; part < (*entry)->schedule.launches.size(); ++part)
    plan::LaunchOp::create(builder, loc, planned.getSymName(), part, operands);
  return success();
}

namespace {

LogicalResult lowerToPlan(ModuleOp module, Target &target) {
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkEntry(function)))
      return failure();
  OpBuilder builder(module.getContext());
  EntryLowering::Variables variables;
  for (auto variable : llvm::to_vector(module.getOps<VariableOp>())) {
    builder.setInsertionPoint(variable);
    variables[variable.getSymName()] = plan::VariableOp::create(
        builder, variable.getLoc(), variable.getSymName(), variable.getRole(), typeHere(variable),
        IntegerAttr(), variable.getHost(), variable->getAttrOfType<ShardingAttr>(shardingAttrName));
    variable.erase();
  }
  KernelTable kernels(module, target);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    builder.setInsertionPointToEnd(module.getBody());
    auto entry = plan::EntryOp::create(builder, function.getLoc(), function.getSymName());
    function.setSymName(("lowered_" + function.getSymName()).str());
    builder.createBlock(&entry.getBody());
    if (failed(EntryLowering(function, builder, variables, kernels).run()))
      return failure();
    function.erase();
  }
  module->setAttr(plan::targetAttrName, builder.getStringAttr(target.requirement()));
  module->setAttr(plan::threadScratchAttrName, builder.getI64IntegerAttr(kernels.threadScratch));
  return success();
}

struct LowerToPlan : weir::impl::LowerToPlanBase<LowerToPlan> {
  LowerToPlan() = default;
  explicit LowerToPlan(LowerToPlanOptions options) : LowerToPlanBase(options) {}
  explicit LowerToPlan(std::shared_ptr<Target> target) : made(std::move(target)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerToPlanBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    if (failed(lowerToPlan(getOperation(), *made)))
      signalPassFailure();
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> createLowerToPlan(std::shared_ptr<Target> target) {
  return std::make_unique<LowerToPlan>(std::move(target));
}

} // namespace weir
