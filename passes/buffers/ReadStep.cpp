//===- ReadStep.cpp - An entry of kernels as a model of its memory --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of actions and copies that passes/lower emits.
//
//===----------------------------------------------------------------------===//

#include "passes/buffers/ReadStep.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Program.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/memory/EntryLifetimes.h"
#include "passes/stages/GatherSections.h"

using namespace mlir;

namespace weir::buffers {
namespace {

/// Whether another section reads the memory, under whatever shape.
bool isKept(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    return isa<SaveOp>(user) || (isAlias(user) && isKept(user->getResult(0)));
  });
}

/// Whether an op behind `maker` reads the memory. Copies at the end of the block do not count.
bool isReadBehind(Value memory, Operation *maker) {
  return llvm::any_of(memory.getUsers(), [&](Operation *user) {
    if (isAlias(user))
      return isReadBehind(user->getResult(0), maker);
    Operation *at = maker->getBlock()->findAncestorOpInBlock(*user);
    return at && maker->isBeforeInBlock(at) && !isa<WriteOp>(user) &&
           !at->hasTrait<OpTrait::IsTerminator>();
  });
}

LogicalResult checkCarried(MicrobatchesOp op) {
  if (op.numSums() > 0)
    return op.emitOpError("cannot be planned before its sums are carried (weir-carry-sums)");
  return success();
}

int64_t numberOf(MicrobatchesOp section) {
  return section->getAttrOfType<IntegerAttr>(sectionAttrName).getInt();
}

class StepReader {
public:
  StepReader(func::FuncOp entry, const llvm::StringSet<> &onHost, KernelFacts &facts, bool offloads)
      : entry(entry), facts(facts), offloads(offloads), onHost(onHost) {}

  FailureOr<EntryStep> read();

private:
  LogicalResult readBlock(Block &block);
  LogicalResult readKernel(KernelOp kernel);
  void readReload(ReloadOp reload);
  void readOffload(OffloadOp offload);
  /// A collective, a transfer, a pack or an unpack: each result has memory of its own, and is never
  /// made again, since its collective has one place among all.
  void readMoved(Operation *op);
  void readSave(SaveOp op);
  LogicalResult readMicrobatches(MicrobatchesOp op);
  LogicalResult readSections(ArrayRef<MicrobatchesOp> sections);
  /// A carried value's own memory.
  SmallVector<int> beginCarried(MicrobatchesOp op);
  /// One round, whose carried values lie in `buffers`: actions of loops happen many times, and what
  /// is carried has the old values of all of them.
  LogicalResult readBody(MicrobatchesOp op, ArrayRef<int> buffers);
  int tensor(Value value, int64_t bytes, bool lends);
  /// The tensor that a value shows; a loop that uses it from outside is noted.
  int use(Value value);
  int action(Operation *maker) {
    result.makers.push_back(maker);
    result.step.actions.emplace_back();
    if (maker)
      result.step.actions.back().scope = scopeOf(maker->getBlock());
    return int(result.step.actions.size()) - 1;
  }
  int scopeOf(Block *block) { return scopes.try_emplace(block, int(scopes.size())).first->second; }
  int copy(int from, int to);
  /// The same as an event. A buffer that it gets is named `label`.
  Event &recordCopy(Event::Kind kind, int from, int to, Operation *op, Value value,
                    StringRef label) {
    Event &event = record(kind, op, copy(from, to), value);
    event.label = label;
    return event;
  }
  void recordUpdate(Value next, llvm::function_ref<bool(Value)> isOld);
  /// A copy of what is a variable's memory, for what reads it when that has its next value.
  int keep(Value value, Operation *op, StringRef label);
  Event &record(Event::Kind kind, Operation *op, int action = -1, Value value = {}) {
    result.events.push_back(
        {.kind = kind, .op = op, .action = action, .value = value, .microbatch = microbatch});
    return result.events.back();
  }
  bool isOfHost(WriteOp write) { return onHost.contains(write.getVariable()); }
  void write(int at, int tensor);
  int variable(StringRef name) {
    auto [known, isNew] = variables.try_emplace(name, int(result.variables.size()));
    if (isNew)
      result.variables.push_back({.name = name});
    return known->second;
  }

  func::FuncOp entry;
  KernelFacts &facts;
  const bool offloads;
  const llvm::StringSet<> &onHost;
  EntryStep result;
  llvm::StringMap<int> variables;
  llvm::DenseMap<Value, int> writtenTo; ///< memory -> variable
  llvm::DenseMap<Block *, std::pair<int, int>> span;
  llvm::DenseMap<Block *, int> scopes;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int> savedAt; ///< (number, microbatch) -> tensor
  int64_t microbatch = 0;
};

int StepReader::tensor(Value value, int64_t bytes, bool lends) {
  int number = int(result.step.tensors.size());
  Tensor made;
  made.bytes = alignedBytes(bytes);
  made.padding = made.bytes - bytes;
  made.scope = value ? scopeOf(value.getParentBlock()) : 0;
  made.lends = lends;
  if (auto written = writtenTo.find(value); written != writtenTo.end())
    made.variable = written->second;
  result.step.tensors.push_back(made);
  result.values.push_back(value);
  if (value)
    result.tensorOf[value] = number;
  return number;
}

int StepReader::use(Value value) { return result.tensorOf.at(memoryOf(value)); }

int StepReader::copy(int from, int to) {
  int at = action(nullptr);
  result.step.actions[at].reads.push_back(from);
  if (to >= 0)
    write(at, to);
  return at;
}

int StepReader::keep(Value value, Operation *op, StringRef label) {
  int from = use(value), kept = tensor(Value(), storageBytes(value.getType()), false);
  int at = recordCopy(Event::Kind::keep, from, kept, op, value, label).action;
  result.step.actions[at].keepsVariable = true;
  result.values[kept] = value;
  return kept;
}

void StepReader::recordUpdate(Value next, llvm::function_ref<bool(Value)> isOld) {
  auto kernel = memoryOf(next).getDefiningOp<KernelOp>();
  if (kernel && llvm::any_of(kernel.getInputs(), [&](Value input) {
        return isOld(memoryOf(input)) && !isReadBehind(memoryOf(input), kernel);
      }))
    record(Event::Kind::update, kernel);
}

void StepReader::write(int at, int tensor) {
  result.step.actions[at].writes.push_back(tensor);
  if (int &maker = result.step.tensors[tensor].madeBy; maker < 0)
    maker = at;
}

LogicalResult StepReader::readKernel(KernelOp kernel) {
  auto known = facts.of(kernel);
  if (failed(known))
    return failure();
  int at = action(kernel);
  record(Event::Kind::run, kernel, at);
  SmallVector<int> writes;
  for (Value made : kernel.getResults()) {
    int number = tensor(made, storageBytes(made.getType()), true);
    Tensor &one = result.step.tensors[number];
    one.madeBy = at;
    if (offloads && one.bytes >= smallestOffloaded)
      one.transfer = 2 * facts.transferSeconds(double(one.bytes));
    writes.push_back(number);
  }
  Action &action = result.step.actions[at];
  for (Value input : kernel.getInputs())
    action.reads.push_back(use(input));
  action.writes = std::move(writes);
  action.inPlace = (*known)->inPlace;
  action.writesDirectly = true;
  action.workspace = alignedBytes((*known)->workspace);
  action.cost = (*known)->seconds;
  // What many kernels share a launch for is small, or of variables alone.
  action.repeats = kernel.getCopies() == 1;
  return success();
}

void StepReader::readReload(ReloadOp reload) {
  int64_t bytes = storageBytes(reload.getType());
  int from = use(reload.getValue());
  int at = copy(from, tensor(reload.getResult(), bytes, true));
  record(Event::Kind::run, reload, at);
  result.makers[at] = reload;
  result.step.actions[at].cost = facts.transferSeconds(bytes);
}

void StepReader::readOffload(OffloadOp offload) {
  int from = use(offload.getValue());
  int at = copy(from, tensor(offload.getResult(), 0, false));
  record(Event::Kind::run, offload, at);
  result.makers[at] = offload;
  result.step.actions[at].cost = facts.transferSeconds(double(storageBytes(offload.getType())));
}

void StepReader::readMoved(Operation *op) {
  int at = action(op);
  record(Event::Kind::run, op, at);
  for (Value operand : op->getOperands())
    result.step.actions[at].reads.push_back(use(operand));
  int64_t bytes = isa<SendOp>(op) ? storageBytes(op->getOperand(0).getType()) : 0;
  for (Value made : op->getResults()) {
    write(at, tensor(made, storageBytes(made.getType()), true));
    bytes += storageBytes(made.getType());
  }
  Action &action = result.step.actions[at];
  action.cost = facts.transferSeconds(double(bytes));
  action.writesDirectly = isCollective(op) || isa<UnpackOp>(op);
  if (isPacking(op)) {
    // Rows are copied in a loop, which counts its rounds.
    bool hasRows = shapeOf(op->getResult(0)).size() > 1;
    action.workspace = hasRows ? alignedBytes(4) : 0;
  }
}

/// Who reads it lends no place: other sections may read it as well. What is carried into a round is
/// written over in the next, so it is copied.
void StepReader::readSave(SaveOp op) {
  Value memory = memoryOf(op.getInput());
  int held = use(memory);
  if (isa<BlockArgument>(memory)) {
    int carried = std::exchange(held, tensor(Value(), storageBytes(memory.getType()), false));
    recordCopy(Event::Kind::keep, carried, held, op, op.getInput(), "kept value");
  }
  result.step.tensors[held].lends = false;
  savedAt[{int64_t(op.getNumber()), microbatch}] = held;
}

SmallVector<int> StepReader::beginCarried(MicrobatchesOp op) {
  SmallVector<int> buffers;
  for (auto [start, last] : llvm::zip_equal(op.getCarried(), op.getResults())) {
    int buffer = tensor(last, storageBytes(last.getType()), true);
    recordCopy(Event::Kind::copy, use(start), buffer, op, start, "carried").made = last;
    buffers.push_back(buffer);
  }
  return buffers;
}

LogicalResult StepReader::readBody(MicrobatchesOp op, ArrayRef<int> buffers) {
  Block &body = op.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  unsigned firstCarried = 1 + op.getSliced().size();
  SmallVector<int> carriedBy;
  for (int buffer : buffers) {
    carriedBy.push_back(int(result.variables.size()));
    result.variables.push_back({.carried = buffer});
  }
  for (Value next : yield.getValues())
    writtenTo.erase(memoryOf(next));
  for (auto [i, next] : llvm::enumerate(yield.getValues())) {
    Value old = body.getArgument(firstCarried + i);
    int number = tensor(old, 0, false);
    result.step.tensors[number].readsVariable = carriedBy[i];
    Value memory = memoryOf(next);
    // What another section reads later is still there when the next round carries on.
    if (!isKept(memory) && writtenTo.try_emplace(memory, carriedBy[i]).second)
      recordUpdate(next, [&](Value input) { return input == old; });
  }
  if (failed(readBlock(body)))
    return failure();
  // What goes to another carried value than it lies in is kept until all are read.
  SmallVector<int> nexts;
  for (auto [next, own] : llvm::zip_equal(yield.getValues(), carriedBy)) {
    const Tensor &made = result.step.tensors[use(next)];
    int lies = made.readsVariable >= 0 ? made.readsVariable : made.variable;
    bool isOther = lies != own && llvm::is_contained(carriedBy, lies);
    nexts.push_back(isOther ? keep(next, op, "kept value") : use(next));
  }
  for (auto [next, buffer, value] : llvm::zip_equal(nexts, buffers, yield.getValues()))
    recordCopy(Event::Kind::copy, next, buffer, op, value, "carried");
  return success();
}

LogicalResult StepReader::readMicrobatches(MicrobatchesOp op) {
  if (failed(checkCarried(op)))
    return failure();
  Block &body = op.getBody().front();
  record(Event::Kind::round, op);
  SmallVector<int> buffers = beginCarried(op);
  int begin = int(result.step.actions.size());
  int loop = int(result.step.loops.size());
  result.step.loops.push_back({begin, begin});
  // The round, and what is carried, are in use from the first action to the last.
  int round = tensor(op.round(), 4, false);
  int head = action(nullptr);
  write(head, round);
  llvm::append_range(result.step.actions[head].reads, buffers);
  record(Event::Kind::enter, op);
  for (auto [i, whole] : llvm::enumerate(op.getSliced()))
    result.tensorOf[body.getArgument(1 + i)] = use(whole);
  if (failed(readBody(op, buffers)))
    return failure();
  record(Event::Kind::leave, op);
  int end = int(result.step.actions.size()) - 1;
  result.step.loops[loop] = {begin, end};
  for (int i = begin; i <= end; ++i) {
    result.step.actions[i].cost *= double(op.getCount());
    for (int made : result.step.actions[i].writes)
      if (result.step.tensors[made].madeBy == i)
        result.step.tensors[made].transfer *= double(op.getCount());
  }
  // What it reads from outside stays until the last round is done.
  auto isInside = [&](int tensor) {
    Value value = result.values[tensor];
    return value && body.getParent()->isAncestor(value.getParentRegion());
  };
  for (int i = begin; i <= end; ++i)
    for (int read : result.step.actions[i].reads)
      if (!isInside(read))
        result.step.tensors[read].outer = loop;
  for (int buffer : buffers)
    result.step.tensors[buffer].outer = loop;
  result.step.tensors[round].outer = loop;
  return success();
}

/// The rounds of all sections in their order, with tensors of their own.
LogicalResult StepReader::readSections(ArrayRef<MicrobatchesOp> sections) {
  llvm::DenseMap<int64_t, std::pair<MicrobatchesOp, SmallVector<int>>> byNumber;
  for (MicrobatchesOp section : sections) {
    if (failed(checkCarried(section)))
      return failure();
    if (!section.round().use_empty())
      return section.emitOpError("reads its round, which a section gets as a slice");
    byNumber[numberOf(section)] = {section, beginCarried(section)};
  }
  MicrobatchesOp first = sections.front();
  ArrayRef<int64_t> order = first->getAttrOfType<DenseI64ArrayAttr>(orderAttrName).asArrayRef();
  llvm::DenseSet<std::pair<int64_t, int64_t>> done;
  for (size_t i = 0; i + 1 < order.size(); i += 2) {
    microbatch = order[i + 1];
    if (microbatch < 0 || microbatch >= int64_t(first.getCount()))
      return first.emitOpError() << "has no microbatch " << microbatch;
    if (!done.insert({order[i], microbatch}).second)
      return first.emitOpError() << "computes section " << order[i] << " of microbatch "
                                 << microbatch << " twice: sums would have it twice";
    auto found = byNumber.find(order[i]);
    if (found == byNumber.end())
      continue; // nothing is left of it
    auto &[section, buffers] = found->second;
    record(Event::Kind::enter, section);
    for (auto [j, whole] : llvm::enumerate(section.getSliced()))
      result.tensorOf[section.getBody().front().getArgument(1 + j)] = use(whole);
    for (SavedOp get : section.getBody().front().getOps<SavedOp>())
      if (!savedAt.contains({int64_t(get.getNumber()), microbatch}))
        return get.emitOpError() << "is read in section " << order[i] << " of microbatch "
                                 << microbatch << " before it is computed";
    if (failed(readBody(section, buffers)))
      return failure();
  }
  microbatch = 0;
  for (MicrobatchesOp section : sections)
    for (int64_t i = 0; i < computedMicrobatches(section); ++i)
      if (!done.contains({numberOf(section), i}))
        return section.emitOpError() << "is never computed for microbatch " << i;
  return success();
}

LogicalResult StepReader::readBlock(Block &block) {
  int begin = int(result.step.actions.size());
  SmallVector<MicrobatchesOp> sections = sectionsIn(block);
  for (Operation &op : block.without_terminator()) {
    result.actionOf[&op] = int(result.step.actions.size());
    if (auto read = dyn_cast<ReadOp>(op)) {
      record(Event::Kind::read, read);
      int number = tensor(read.getResult(), 0, false);
      result.step.tensors[number].readsVariable = variable(read.getVariable());
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (failed(readKernel(kernel)))
        return failure();
    } else if (auto microbatches = dyn_cast<MicrobatchesOp>(op)) {
      if (!microbatches->hasAttr(orderAttrName)) {
        if (failed(readMicrobatches(microbatches)))
          return failure();
      } else if (microbatches == sections.front() && failed(readSections(sections))) {
        return failure();
      }
    } else if (auto save = dyn_cast<SaveOp>(op)) {
      readSave(save);
    } else if (auto get = dyn_cast<SavedOp>(op)) {
      int held = savedAt.at({int64_t(get.getNumber()), microbatch});
      result.tensorOf[get.getResult()] = held;
      record(Event::Kind::show, get).tensor = held;
    } else if (auto reload = dyn_cast<ReloadOp>(op)) {
      readReload(reload);
    } else if (auto offload = dyn_cast<OffloadOp>(op)) {
      readOffload(offload);
    } else if (isCollective(&op) || isTransfer(&op) || isPacking(&op)) {
      readMoved(&op);
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      if (isOfHost(write)) {
        int at = copy(use(write.getValue()), -1);
        record(Event::Kind::store, write, at, write.getValue());
        result.makers[at] = write;
        result.step.actions[at].cost =
            facts.transferSeconds(storageBytes(write.getValue().getType()));
      }
    } else if (!isAlias(&op)) {
      return op.emitError("cannot be planned");
    }
  }
  span[&block] = {begin, int(result.step.actions.size())};
  return success();
}

FailureOr<EntryStep> StepReader::read() {
  Block &block = entry.front();
  for (WriteOp write : block.getOps<WriteOp>())
    if (!isOfHost(write) &&
        writtenTo.try_emplace(memoryOf(write.getValue()), variable(write.getVariable())).second)
      recordUpdate(write.getValue(), [&](Value input) {
        auto read = input.getDefiningOp<ReadOp>();
        return read && read.getVariable() == write.getVariable();
      });
  for (Value argument : block.getArguments()) {
    int number = tensor(argument, storageBytes(argument.getType()), false);
    // Of memory of its own, a device is given what it reads.
    result.step.tensors[number].isInput = !facts.stagesPorts();
  }
  if (failed(readBlock(block)))
    return failure();
  // Where there are microbatches, forward and backward are in them.
  result.block = &block;
  int most = 0;
  for (Operation &op : block)
    if (auto loop = dyn_cast<MicrobatchesOp>(op); loop && !loop->hasAttr(orderAttrName)) {
      auto [first, last] = span[&loop.getBody().front()];
      if (last - first > most) {
        most = last - first;
        result.block = &loop.getBody().front();
      }
    }
  std::tie(result.step.begin, result.step.end) = span[result.block];
  for (Value value : block.getTerminator()->getOperands()) {
    result.step.tensors[use(value)].isPort = true;
    result.outputs.push_back(keep(value, nullptr, "output"));
    result.step.tensors[result.outputs.back()].isPort = true;
  }
  // What is no variable's memory yet is copied there last, old values of others by way of a copy.
  SmallVector<std::pair<int, WriteOp>> last;
  for (WriteOp write : block.getOps<WriteOp>())
    if (!isOfHost(write)) {
      Value value = write.getValue();
      auto read = memoryOf(value).getDefiningOp<ReadOp>();
      bool isOther = read && read.getVariable() != write.getVariable();
      last.emplace_back(isOther ? keep(value, write, "kept value") : use(value), write);
    }
  for (auto [from, write] : last)
    record(Event::Kind::store, write, copy(from, -1), write.getValue());
  return std::move(result);
}

} // namespace

FailureOr<EntryStep> readStep(func::FuncOp entry, const llvm::StringSet<> &onHost,
                              KernelFacts &facts, bool offloads) {
  return StepReader(entry, onHost, facts, offloads).read();
}

FailureOr<EntryStep> readStep(func::FuncOp entry, KernelFacts &facts, bool offloads) {
  return readStep(entry, variablesOnHost(entry->getParentOfType<ModuleOp>()), facts, offloads);
}

} // namespace weir::buffers
