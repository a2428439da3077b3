//===- VerifyPlanned.cpp - Proves that a plan is safe to run --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after the last pass that assigns offsets or orders actions. support/planned has the rules.
// The loader checks the same of artifacts.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "passes/Passes.h"
#include "support/planned/Verify.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYPLANNED
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

// The dialect's spaces equal those of plans.
static_assert(int(plan::Space::persistent) == int(planned::Space::persistent) &&
              int(plan::Space::constant) == int(planned::Space::constant) &&
              int(plan::Space::scratch) == int(planned::Space::scratch) &&
              int(plan::Space::pinned) == int(planned::Space::pinned) &&
              int(plan::Space::host) == int(planned::Space::host));

/// Converts an entry of IR to the form that support/planned checks.
class Converter {
public:
  Converter(ModuleOp module, SymbolTableCollection &symbols) : module(module), symbols(symbols) {}

  FailureOr<planned::Entry> convert(plan::EntryOp entry);

private:
  LogicalResult addBuffers(plan::EntryOp entry);
  planned::Access access(Value buffer, const spec::Footprint &footprint);
  planned::Action convert(plan::Action action);

  ModuleOp module;
  SymbolTableCollection &symbols;
  planned::Entry result;
  llvm::DenseMap<Operation *, uint32_t> buffers; ///< by plan.variable or plan.alloc
  llvm::DenseMap<Value, uint32_t> events;
};

LogicalResult Converter::addBuffers(plan::EntryOp entry) {
  auto persistent = module->getAttrOfType<IntegerAttr>(plan::persistentAttrName);
  auto arena = module->getAttrOfType<IntegerAttr>(plan::arenaAttrName);
  if (!persistent || !arena || persistent.getInt() < 0 || arena.getInt() < persistent.getInt())
    return module.emitError("is no placed plan: expected plan.persistent and plan.arena, in bytes");
  result.sizes[size_t(planned::Space::persistent)] = persistent.getInt();
  result.sizes[size_t(planned::Space::scratch)] = arena.getInt() - persistent.getInt();
  for (auto [space, name] : {std::pair(planned::Space::pinned, plan::pinnedAttrName),
                             std::pair(planned::Space::host, plan::hostAttrName)})
    if (auto bytes = module->getAttrOfType<IntegerAttr>(name))
      result.sizes[size_t(space)] = bytes.getInt();
  uint32_t actions = entry.actions().size();
  for (auto variable : module.getOps<plan::VariableOp>()) {
    if (!variable.getOffset())
      return variable.emitOpError("has no place yet: --weir-assign-offsets gives it one");
    buffers.try_emplace(variable, result.buffers.size());
    result.buffers.push_back({.space = planned::Space(variable.space()),
                              .offset = *variable.getOffset(),
                              .size = uint64_t(storageBytes(variable.getType())),
                              .name = variable.getSymName().str(),
                              .holds = true,
                              .first = 0,
                              .last = actions ? actions - 1 : 0});
  }
  WalkResult placed = entry.walk([&](plan::AllocOp alloc) {
    if (!alloc.getOffset()) {
      alloc.emitOpError("has no place yet: --weir-assign-offsets gives it one");
      return WalkResult::interrupt();
    }
    plan::Space space = alloc.getResult().getType().getSpace();
    // Scratch is in the arena, after the persistent segment.
    uint64_t begin = space == plan::Space::scratch ? persistent.getInt() : 0;
    if (*alloc.getOffset() < begin) {
      alloc.emitOpError("lies in the persistent segment");
      return WalkResult::interrupt();
    }
    buffers.try_emplace(alloc, result.buffers.size());
    result.buffers.push_back({.space = planned::Space(space),
                              .offset = *alloc.getOffset() - begin,
                              .size = alloc.getSize(),
                              .name = alloc.getLabel().str(),
                              .holds = false,
                              .first = uint32_t(*alloc.getFirst()),
                              .last = uint32_t(*alloc.getLast())});
    return WalkResult::advance();
  });
  return failure(placed.wasInterrupted());
}

planned::Access Converter::access(Value buffer, const spec::Footprint &footprint) {
  plan::Place place = plan::placeOf(buffer);
  Operation *memory = place.memory;
  if (auto use = dyn_cast<plan::UseOp>(memory))
    memory = symbols.lookupNearestSymbolFrom(use, use.getVariableAttr());
  planned::Access access;
  access.buffer = buffers.at(memory);
  access.offset = place.offset;
  for (const plan::Place::Move &move : place.moves)
    access.strides.push_back({plan::depthOf(move.index), move.stride, uint32_t(move.modulus)});
  access.bytes = footprint.bytes;
  access.dims = footprint.dims;
  access.mode = footprint.mode;
  access.name = footprint.name;
  return access;
}

planned::Action Converter::convert(plan::Action action) {
  planned::Action converted;
  converted.queue = action.getQueue();
  converted.name = action.describe(symbols);
  result.queues = std::max(result.queues, converted.queue + 1);
  SmallVector<Value> operands;
  llvm::copy_if(action->getOperands(), std::back_inserter(operands),
                [](Value operand) { return isa<plan::BufferType>(operand.getType()); });
  for (auto [operand, footprint] : llvm::zip_equal(operands, action.footprints(symbols)))
    converted.accesses.push_back(access(operand, footprint));
  if (auto loop = dyn_cast<plan::LoopOp>(*action)) {
    converted.kind = planned::Action::Kind::loop;
    converted.count = loop.getCount();
    for (auto inner : loop.getBody().getOps<plan::Action>())
      converted.body.push_back(convert(inner));
  } else if (auto record = dyn_cast<plan::RecordOp>(*action)) {
    converted.kind = planned::Action::Kind::record;
    converted.event = events.at(record.getEvent());
  } else if (auto wait = dyn_cast<plan::WaitOp>(*action)) {
    converted.kind = planned::Action::Kind::wait;
    converted.event = events.at(wait.getEvent());
  }
  assert((action.engine() == plan::Engine::control) ==
             (converted.kind != planned::Action::Kind::work) &&
         "an action of control that is proven as work");
  return converted;
}

FailureOr<planned::Entry> Converter::convert(plan::EntryOp entry) {
  if (failed(addBuffers(entry)))
    return failure();
  for (auto event : entry.getBody().getOps<plan::EventOp>())
    events.try_emplace(event.getResult(), result.events++);
  for (auto port : entry.getBody().getOps<plan::PortOp>()) {
    bool input = port.getKind() == plan::PortKind::input;
    spec::Footprint whole{port.getName().str(),
                          input ? spec::Mode::write : spec::Mode::read,
                          uint64_t(storageBytes(port.getType())),
                          {},
                          false};
    (input ? result.inputs : result.outputs).push_back(access(port.getBuffer(), whole));
  }
  for (auto action : entry.getBody().getOps<plan::Action>())
    result.actions.push_back(convert(action));
  return std::move(result);
}

/// Accesses that a device cannot make; the loader refuses them in files.
WalkResult checkHost(plan::Action action) {
  unsigned ofHost = llvm::count_if(action->getOperandTypes(), [](Type type) {
    auto buffer = dyn_cast<plan::BufferType>(type);
    return buffer && buffer.getSpace() == plan::Space::host;
  });
  if (ofHost <= (isa<plan::CopyOp>(*action) ? 1 : 0))
    return WalkResult::advance();
  action->emitError("works on the host's memory, which copies alone reach");
  return WalkResult::interrupt();
}

struct VerifyPlanned : weir::impl::VerifyPlannedBase<VerifyPlanned> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTableCollection symbols;
    if (getOperation()->walk(&checkHost).wasInterrupted())
      return signalPassFailure();
    for (auto entry : getOperation().getOps<plan::EntryOp>()) {
      FailureOr<planned::Entry> converted = Converter(getOperation(), symbols).convert(entry);
      if (failed(converted))
        return signalPassFailure();
      planned::Finding fault = planned::verify(*converted).fault;
      if (!fault)
        continue;
      Operation *place = entry;
      if (fault->action)
        place = entry.actions()[*fault->action];
      place->emitError() << "entry '" << entry.getSymName()
                         << "': " << llvm::StringRef(planned::text(fault->kind)) << ": "
                         << fault->message;
      return signalPassFailure();
    }
  }
};

} // namespace
