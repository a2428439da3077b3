//===- VerifyRanks.cpp - Proves that the programs of all ranks match ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/VerifyRanks.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Text.h"
#include "support/mesh/Layout.h"
#include "support/planned/Ranks.h"

using namespace mlir;

namespace weir {
namespace {

bool hasTransfers(MicrobatchesOp loop) {
  return llvm::any_of(loop.getBody().front(), [](Operation &op) { return isTransfer(&op); });
}

/// Converts a program to the form that support/planned checks.
class Converter {
public:
  Converter(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  planned::RankProgram convert() {
    planned::RankProgram program;
    for (Operation &op : module.getOps()) {
      if (auto variable = dyn_cast<VariableOp>(op))
        program.variables.push_back(
            tensor(variable.getSymName(), typeHere(variable),
                   variable->getAttrOfType<ShardingAttr>(shardingAttrName)));
      else if (auto variable = dyn_cast<plan::VariableOp>(op))
        program.variables.push_back(
            tensor(variable.getSymName(), variable.getType(), variable.getShardingAttr()));
      else if (auto function = dyn_cast<func::FuncOp>(op))
        program.entries.push_back(convert(function));
      else if (auto entry = dyn_cast<plan::EntryOp>(op))
        program.entries.push_back(convert(entry));
    }
    return program;
  }

  // By number: of an entry, and of a sync point's action.
  SmallVector<Operation *> entries;
  std::vector<SmallVector<Operation *>> actions;

private:
  planned::RankTensor tensor(const Twine &name, Type type, ShardingAttr sharding) {
    auto own = cast<RankedTensorType>(type);
    planned::RankTensor tensor{name.str(), *elementOf(own.getElementType()), own.getShape(),
                               sharding ? sharding.getValue().text() : "", own.getShape()};
    if (std::optional<Layout> layout = layoutOn(sharding, mesh))
      tensor.shape = layout->shape();
    return tensor;
  }

  planned::RankEntry begin(Operation *entry, StringRef name) {
    entries.push_back(entry);
    actions.emplace_back();
    return {name.str(), {}, {}, {}};
  }

  planned::RankEntry convert(func::FuncOp function) {
    planned::RankEntry entry = begin(function, function.getSymName());
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      entry.inputs.push_back(tensor("number " + Twine(i), type,
                                    function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName)));
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      entry.results.push_back(tensor("number " + Twine(i), type, nullptr));
    entry.syncPoints = syncPoints(function.front());
    return entry;
  }

  planned::RankEntry convert(plan::EntryOp op) {
    planned::RankEntry entry = begin(op, op.getSymName());
    for (auto port : op.getBody().getOps<plan::PortOp>()) {
      if (port.getKind() == plan::PortKind::input)
        entry.inputs.push_back(tensor(port.getName(), port.getType(), port.getShardingAttr()));
      else
        entry.results.push_back(
            tensor(port.getName() + "." + stringifyPortKind(port.getKind()) + Twine(port.getTerm()),
                   port.getType(), port.getShardingAttr()));
    }
    entry.syncPoints = syncPoints(op.getBody().front());
    return entry;
  }

  std::vector<planned::SyncPoint> syncPoints(Block &block) {
    std::vector<planned::SyncPoint> all;
    for (Operation &op : block) {
      if (auto loop = dyn_cast<MicrobatchesOp>(op); loop && hasTransfers(loop)) {
        // A transfer sent in one is received in the same.
        for (microbatch = 0; microbatch < int64_t(loop.getCount()); ++microbatch)
          llvm::append_range(all, syncPoints(loop.getBody().front()));
        microbatch = 0;
        continue;
      }
      planned::SyncPoint point{.action = uint32_t(actions.back().size())};
      if (auto loop = dyn_cast<plan::LoopOp>(op))
        point.rounds = loop.getCount();
      else if (auto loop = dyn_cast<MicrobatchesOp>(op))
        point.rounds = loop.getCount();
      else if (auto record = dyn_cast<plan::RecordOp>(op))
        setOrder(point, planned::SyncPoint::Order::record, record.getEvent());
      else if (auto wait = dyn_cast<plan::WaitOp>(op))
        setOrder(point, planned::SyncPoint::Order::wait, wait.getEvent());
      else if (!isCollective(&op) && !isTransfer(&op) &&
               !isa<plan::CollectiveOp, plan::SendOp, plan::ReceiveOp>(op))
        continue;
      if (auto action = dyn_cast<plan::Action>(op))
        point.queue = uint32_t(action.getQueue());
      actions.back().push_back(&op);
      if (point.rounds) {
        point.body = syncPoints(op.getRegion(0).front());
        if (point.body.empty())
          continue;
      } else if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
        describe(collective, point);
      } else if (auto send = dyn_cast<plan::SendOp>(op)) {
        describeTransfer(send, point);
      } else if (auto receive = dyn_cast<plan::ReceiveOp>(op)) {
        describeTransfer(receive, point);
      } else if (isTransfer(&op)) {
        describeTransfer(&op, point);
      } else if (point.order == planned::SyncPoint::Order::none) {
        describe(&op, point);
      }
      all.push_back(std::move(point));
    }
    return all;
  }

  void setOrder(planned::SyncPoint &point, planned::SyncPoint::Order order, Value event) {
    point.order = order;
    point.event = events.try_emplace(event, events.size()).first->second;
  }

  void describe(plan::CollectiveOp op, planned::SyncPoint &point) {
    point.kind = stringifyCollectiveKind(op.getKind()).str();
    point.axis = op.getAxis().str();
    point.number = op.getNumber();
    point.source = weir::describe(op.getLoc());
    point.element = *elementOf(op.getElement());
    point.bytes.assign(op.getBytes().begin(), op.getBytes().end());
    point.own = op.getOwn();
  }

  template <class Op> void describeTransfer(Op op, planned::SyncPoint &point) {
    point.kind = op->getName().stripDialect().str();
    point.axis = op.getAxis().str();
    point.number = op.getNumber();
    point.source = weir::describe(op.getLoc());
    point.element = *elementOf(op.getElement());
    point.bytes = {op.getSize()};
    point.own = op.getSize();
    point.peer = op.getPeer();
    point.round = op.getRound();
  }

  /// For the weir dialect.
  void describeTransfer(Operation *op, planned::SyncPoint &point) {
    auto send = dyn_cast<SendOp>(op);
    auto receive = dyn_cast<ReceiveOp>(op);
    Value value = send ? send.getInput() : receive.getResult();
    point.kind = op->getName().stripDialect().str();
    point.axis = (send ? send.getAxis() : receive.getAxis()).str();
    point.number = send ? send.getNumber() : receive.getNumber();
    point.source = weir::describe(op->getLoc());
    point.element = *elementOf(tensorType(value).getElementType());
    point.bytes = {uint64_t(storageBytes(value.getType()))};
    point.own = point.bytes[0];
    point.peer = send ? send.getPeer() : receive.getPeer();
    point.round = uint64_t(microbatch);
  }

  /// For a collective of the weir dialect.
  void describe(Operation *op, planned::SyncPoint &point) {
    Value input = op->getOperand(0);
    CollectiveFacts facts = factsOf(op);
    uint64_t row = storageBytes(input.getType()) / shapeOf(input)[0];
    point.kind = op->getName().stripDialect().str();
    point.axis = facts.axis.str();
    point.number = facts.number;
    point.source = weir::describe(op->getLoc());
    point.element = *elementOf(tensorType(input).getElementType());
    for (int64_t count : facts.rows)
      point.bytes.push_back(count * row);
    point.own = row * facts.own;
  }

  ModuleOp module;
  const Mesh &mesh;
  llvm::DenseMap<Value, uint32_t> events;
  int64_t microbatch = 0; ///< for the weir dialect: the microbatch of the current ops
};

} // namespace

std::optional<RanksProblem> findRanksProblem(ArrayRef<ModuleOp> programs,
                                             ArrayRef<uint32_t> programOf) {
  planned::MeshPrograms ranks;
  const Mesh *mesh = meshOf(programs[0]);
  if (!mesh)
    return std::nullopt; // one rank
  ranks.mesh = *mesh;
  ranks.programOf = programOf;
  std::vector<Converter> converters;
  for (ModuleOp program : programs) {
    converters.emplace_back(program, ranks.mesh);
    ranks.programs.push_back(converters.back().convert());
  }
  std::optional<planned::RanksFault> fault = planned::verifyRanks(ranks);
  if (!fault)
    return std::nullopt;
  const Converter &at = converters[fault->program];
  Operation *place = ModuleOp(programs[fault->program]);
  if (fault->entry)
    place = at.entries[*fault->entry];
  if (fault->action)
    place = at.actions[*fault->entry][*fault->action];
  return RanksProblem{concat(planned::text(fault->kind), ": ", fault->message), place};
}

LogicalResult verifyRanks(ArrayRef<ModuleOp> programs, ArrayRef<uint32_t> programOf) {
  std::optional<RanksProblem> problem = findRanksProblem(programs, programOf);
  if (!problem)
    return success();
  return problem->op->emitError() << "the programs of the ranks do not match: " << problem->message;
}

} // namespace weir
