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
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Variable.h"
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

Value EntryLowering::allocate(Value tensor, StringRef label, plan::Space space) {
  return plan::AllocOp::create(builder, resultLocation(tensor), storageBytes(tensor.getType()),
                               label, space);
}

void EntryLowering::copy(Value from, Value to, Type tensor, Location loc) {
  if (from != to)
    plan::CopyOp::create(builder, loc, from, to, builder.getI64IntegerAttr(storageBytes(tensor)));
}

Value EntryLowering::memoryOfTensor(int tensor) {
  if (auto found = kept.find(tensor); found != kept.end())
    return found->second;
  if (int buffer = memory.buffers[tensor]; buffer >= 0)
    return allocated.lookup(buffer);
  const buffers::Tensor &one = step.step.tensors[tensor];
  const int variable = one.bytes ? one.variable : one.readsVariable;
  assert(variable >= 0 && "a tensor without a buffer lies in a variable");
  const buffers::Variable &in = step.variables[variable];
  return in.carried >= 0 ? memoryOfTensor(in.carried) : use(in.name, function.getLoc());
}

Value EntryLowering::addResult(const Event &event, unsigned result, Value value, StringRef label) {
  int tensor = actionOf(event).writes[result], buffer = memory.buffers[tensor];
  if (buffer >= 0 && !allocated.contains(buffer))
    allocated[buffer] = allocate(value, label);
  return memoryOfTensor(tensor);
}

Value EntryLowering::sourceOf(const Event &event) {
  auto found = kept.find(actionOf(event).reads.front());
  return found != kept.end() ? found->second : bufferOfValue(event.value);
}

bool EntryLowering::isDirect(WriteOp write) const {
  int number = step.tensorOf.at(memoryOf(write.getValue()));
  const buffers::Tensor &tensor = step.step.tensors[number];
  return tensor.bytes && memory.buffers[number] < 0 && tensor.variable >= 0 &&
         step.variables[tensor.variable].name == write.getVariable();
}

void EntryLowering::addInputs() {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    Value buffer = bufferOf[argument] = allocate(argument, "input");
    if (int number = memory.buffers[step.tensorOf.at(argument)]; number >= 0)
      allocated[number] = buffer;
    auto name = function.getArgAttrOfType<StringAttr>(i, inputAttrName);
    auto limit = function.getArgAttrOfType<IntegerAttr>(i, limitAttrName);
    plan::PortOp::create(builder, argument.getLoc(),
                         plan::PortKindAttr::get(builder.getContext(), plan::PortKind::input), name,
                         TypeAttr::get(argument.getType()), buffer, builder.getI64IntegerAttr(0),
                         builder.getF64FloatAttr(1.0), limit ? limit : builder.getI64IntegerAttr(0),
                         function.getArgAttrOfType<StringAttr>(i, limitConfigAttrName),
                         function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName));
  }
}

void EntryLowering::addOutputs() {
  Operation *result = function.front().getTerminator();
  for (auto [i, tensor] : llvm::enumerate(step.outputs)) {
    auto attribute = [&, i = i](StringRef name) { return function.getResultAttr(i, name); };
    auto kind = plan::symbolizePortKind(cast<StringAttr>(attribute(partAttrName)).getValue());
    auto term = dyn_cast_or_null<IntegerAttr>(attribute(termAttrName));
    auto weight = dyn_cast_or_null<FloatAttr>(attribute(weightAttrName));
    plan::PortOp::create(builder, result->getOperand(i).getLoc(),
                         plan::PortKindAttr::get(builder.getContext(), *kind),
                         cast<StringAttr>(attribute(outputAttrName)),
                         TypeAttr::get(result->getOperand(i).getType()), memoryOfTensor(tensor),
                         term ? term : builder.getI64IntegerAttr(0),
                         weight ? weight : builder.getF64FloatAttr(1.0),
                         builder.getI64IntegerAttr(0), StringAttr(), ShardingAttr());
  }
}

LogicalResult EntryLowering::run() {
  addInputs();
  for (WriteOp write : function.front().getOps<WriteOp>())
    if (isDirect(write))
      (void)use(write.getVariable(), write.getLoc());
  for (const Event &event : step.events)
    if (failed(lower(event)))
      return failure();
  addOutputs();
  return success();
}

LogicalResult EntryLowering::lower(const Event &event) {
  Operation *op = event.op;
  switch (event.kind) {
  case Event::Kind::update: // these kernels come first in a plan's table
    return success(kernels.isCall(cast<KernelOp>(op)) || succeeded(kernels.of(cast<KernelOp>(op))));
  case Event::Kind::read:
    bufferOf[op->getResult(0)] = use(cast<ReadOp>(op).getVariable(), op->getLoc());
    break;
  case Event::Kind::run:
    return lowerOp(event);
  case Event::Kind::round:
    rounds[op] = plan::AllocOp::create(builder, op->getLoc(), 4, "round");
    bufferOf[cast<MicrobatchesOp>(op).round()] = rounds[op];
    break;
  case Event::Kind::enter:
    enter(cast<MicrobatchesOp>(op), event.microbatch);
    break;
  case Event::Kind::copy:
    if (Value buffer = lowerCopy(event); event.made)
      bufferOf[event.made] = buffer;
    break;
  case Event::Kind::keep:
    kept[actionOf(event).writes.front()] = lowerCopy(event);
    break;
  case Event::Kind::show:
    bufferOf[op->getResult(0)] = memoryOfTensor(event.tensor);
    break;
  case Event::Kind::store:
    copy(sourceOf(event), use(cast<WriteOp>(op).getVariable(), op->getLoc()), event.value.getType(),
         op->getLoc());
    break;
  case Event::Kind::leave:
    builder.setInsertionPointAfter(builder.getInsertionBlock()->getParentOp());
    break;
  }
  return success();
}

LogicalResult EntryLowering::lowerOp(const Event &event) {
  Operation *op = event.op;
  if (auto kernel = dyn_cast<KernelOp>(op))
    return lowerKernel(kernel, event);
  if (isTransfer(op)) {
    lowerTransfer(op, event);
  } else if (isCollective(op)) {
    lowerCollective(op, event);
  } else if (isPacking(op)) {
    lowerPacked(op, event);
  } else {
    Value from = op->getOperand(0), made = op->getResult(0);
    Value buffer = bufferOf[made] = isa<OffloadOp>(op)
                                        ? allocate(made, "offloaded", plan::Space::host)
                                        : addResult(event, 0, made, "reloaded");
    copy(bufferOfValue(from), buffer, from.getType(), op->getLoc());
  }
  return success();
}

/// The rules say which copies are needed: a value that lies in a buffer of its own keeps it.
Value EntryLowering::lowerCopy(const Event &event) {
  const buffers::Action &action = actionOf(event);
  Value from = sourceOf(event), to = from;
  if (!action.keepsVariable || memory.buffers[action.reads.front()] < 0)
    to = addResult(event, 0, event.made ? event.made : event.value, event.label);
  copy(from, to, event.value.getType(), event.op ? event.op->getLoc() : event.value.getLoc());
  return to;
}

/// Slices are parts of their operand: of a loop, with its round; of a section, of the microbatch.
void EntryLowering::enter(MicrobatchesOp op, int64_t microbatch) {
  Block &body = op.getBody().front();
  Location loc = op.getLoc();
  SmallVector<Value, 1> indices;
  if (Value round = rounds.lookup(op)) {
    auto loop = plan::LoopOp::create(builder, loc, op.getCount(), round);
    builder.createBlock(&loop.getBody(), {}, plan::IndexType::get(builder.getContext()), loc);
    indices.push_back(loop.index());
  }
  for (auto [i, whole] : llvm::enumerate(op.getSliced())) {
    int64_t bytes = storageBytes(whole.getType()) / op.getCount();
    SmallVector<int64_t> strides(indices.size(), bytes), moduli(indices.size(), 0);
    bufferOf[body.getArgument(1 + i)] = plan::PartOp::create(
        builder, loc, bufferOfValue(whole), bytes * microbatch, indices, strides, moduli);
  }
  for (auto [i, last] : llvm::enumerate(op.getResults()))
    bufferOf[body.getArgument(1 + op.getSliced().size() + i)] = bufferOf.lookup(last);
}

void EntryLowering::lowerCollective(Operation *op, const Event &event) {
  Value input = op->getOperand(0), result = op->getResult(0);
  CollectiveFacts facts = factsOf(op);
  int64_t row = storageBytes(input.getType()) / shapeOf(input)[0];
  SmallVector<int64_t> bytes;
  for (int64_t count : facts.rows)
    bytes.push_back(count * row);
  Value buffer = bufferOf[result] = addResult(
      event, 0, result, isa<CollectivePermuteOp>(op) ? "of the rank before" : "of all ranks");
  plan::CollectiveOp::create(builder, op->getLoc(), plan::CollectiveKind(facts.kind), facts.axis,
                             bufferOfValue(input), buffer, bytes, facts.own * row,
                             tensorType(input).getElementType(), facts.number);
}

void EntryLowering::lowerTransfer(Operation *op, const Event &event) {
  auto send = dyn_cast<SendOp>(op);
  auto receive = dyn_cast<ReceiveOp>(op);
  Value value = send ? send.getInput() : receive.getResult();
  if (receive)
    bufferOf[value] = addResult(event, 0, value, "received");
  Value buffer = bufferOfValue(value);
  int64_t size = storageBytes(value.getType());
  Type element = tensorType(value).getElementType();
  if (send)
    plan::SendOp::create(builder, op->getLoc(), buffer, size, element, send.getAxis(),
                         send.getPeer(), send.getNumber(), event.microbatch);
  else
    plan::ReceiveOp::create(builder, op->getLoc(), buffer, size, element, receive.getAxis(),
                            receive.getPeer(), receive.getNumber(), event.microbatch);
}

/// A copy for each part, in each row.
void EntryLowering::lowerPacked(Operation *op, const Event &event) {
  bool packs = isa<PackOp>(op);
  Value whole = packs ? op->getResult(0) : op->getOperand(0);
  for (auto [i, made] : llvm::enumerate(op->getResults()))
    bufferOf[made] = addResult(event, i, made, packs ? "packed" : "unpacked");
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
    Value buffer = bufferOfValue(value);
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

LogicalResult EntryLowering::lowerKernel(KernelOp kernel, const Event &event) {
  Block *actions = builder.getInsertionBlock();
  Operation *before = actions->empty() ? nullptr : &actions->back();
  if (failed(emitKernel(kernel, event)))
    return failure();
  if (kernel->hasAttr(againAttrName))
    for (Operation *made = before ? before->getNextNode() : &actions->front(); made;
         made = made->getNextNode())
      if (isa<plan::Action>(made))
        made->setAttr(againAttrName, builder.getUnitAttr());
  return success();
}

LogicalResult EntryLowering::emitKernel(KernelOp kernel, const Event &event) {
  SmallVector<Value> inputs, results;
  for (Value input : kernel.getInputs())
    inputs.push_back(bufferOfValue(input));
  FailureOr<const KernelTable::Entry *> entry = static_cast<const KernelTable::Entry *>(nullptr);
  if (!kernels.isCall(kernel) && failed(entry = kernels.of(kernel)))
    return failure();

  for (auto [i, result] : llvm::enumerate(kernel.getResults()))
    results.push_back(bufferOf[result] = addResult(event, i, result, resultLabel(result)));
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
  const llvm::StringSet<> onHost = variablesOnHost(module);
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
    gatherSections(function.front()); // which read of a variable is the last depends on the order
    buffers::KernelFacts facts(target);
    FailureOr<buffers::EntryStep> step = buffers::readStep(function, onHost, facts);
    if (failed(step) || failed(EntryLowering(function, *step, builder, variables, kernels).run()))
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
