//===- Reader.cpp - An artifact's plan as IR ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Reader.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "codegen/artifact/Meaning.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/reports/LayoutReport.h"
#include "ir/weir/reports/PrecisionReport.h"
#include "ir/weir/reports/SavedActivationsReport.h"
#include "mlir/IR/Verifier.h"
#include "strategy/Fields.h"

using namespace mlir;
namespace fb = weir::artifact;

namespace weir {
namespace {

using Actions = flatbuffers::Vector<flatbuffers::Offset<fb::Action>>;
using Lines = flatbuffers::Vector<const fb::Location *>;

StringRef text(const flatbuffers::String *string) {
  return string ? StringRef(string->c_str(), string->size()) : StringRef();
}

class PlanReader {
public:
  PlanReader(const fb::Program &program, MLIRContext &context)
      : program(program), mesh(fb::meshOf(program)), builder(&context),
        unknown(UnknownLoc::get(&context)) {}

  OwningOpRef<ModuleOp> read();

private:
  void readAttributes();
  void readChoices();
  void readModelFlops(const fb::Entry &entry);
  void readKeeping();
  void readPlacements();
  void readVariable(const fb::Variable &variable);
  LogicalResult readKernel(uint32_t first);
  LogicalResult readMeanings();
  void readEntry(const fb::Entry &entry);
  void readPort(const fb::Port &port);
  void readActions(const Actions &actions);
  void readAction(const fb::Action &action);
  Location locate(const fb::Action &action);

  SmallVector<Value> operandsOf(const fb::Action &action);
  Value buffer(const fb::Ref &ref);
  Value use(uint32_t variable);
  Type tensor(fb::DType dtype, ArrayRef<int64_t> shape);
  /// A variable's or port's type of what the program's rank has.
  template <class Tensor> Type ownTensor(const Tensor &one) {
    Layout layout = fb::layoutOf(mesh, one);
    return tensor(one.dtype(), layout.shape(mesh, int64_t(program.rank())));
  }
  template <class Tensor> ShardingAttr shardingOf(const Tensor &one) {
    return one.layout() ? shardingAttr(builder.getContext(), fb::layoutOf(mesh, one), mesh)
                        : ShardingAttr();
  }
  Location locate(const fb::Location *location);
  Location locate(const Lines *lines);
  IntegerAttr number(uint64_t value) { return builder.getI64IntegerAttr(value); }

  const fb::Program &program;
  const Mesh mesh;
  OpBuilder builder;
  Location unknown;
  OwningOpRef<ModuleOp> module;
  std::vector<std::pair<plan::KernelOp, uint32_t>>
      kernelOf;                            ///< by Program.kernels: the op and its part's number
  std::vector<plan::VariableOp> variables; ///< by Program.variables
  // Of the entry that is read:
  plan::EntryOp entryOp;
  std::vector<Value> buffers, uses, events;
  std::vector<Value> rounds; ///< of the loops around
  Operation *lastUse = nullptr;
};

Location PlanReader::locate(const fb::Location *location) {
  if (!location || location->line() == 0)
    return unknown;
  return FileLineColLoc::get(builder.getStringAttr(text(program.files()->Get(location->file()))),
                             location->line(), location->column());
}

Location PlanReader::locate(const Lines *lines) {
  SmallVector<Location> parts;
  if (lines)
    for (const fb::Location *line : *lines)
      parts.push_back(locate(line));
  return FusedLoc::get(builder.getContext(), parts);
}

Type PlanReader::tensor(fb::DType dtype, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, typeOf(builder.getContext(), fb::elementOf(dtype)));
}

/// Older artifacts have some of its fields alone.
static Strategy strategyIn(const fb::Program &program) {
  Strategy strategy;
  if (program.strategy())
    strategy = strategy::recordedStrategy(program.strategy()->string_view());
  strategy.precision = fb::precisionOf(program);
  strategy.paramType = fb::elementOf(program.master());
  strategy.hosts = fb::hostsOf(program);
  return strategy;
}

void PlanReader::readAttributes() {
  auto set = [&](StringRef name, Attribute value) { (*module)->setAttr(name, value); };
  set(modelAttrName, builder.getStringAttr(text(program.model())));
  SmallVector<NamedAttribute> configs;
  if (program.configs())
    for (const fb::Config *config : *program.configs())
      configs.push_back(
          builder.getNamedAttr(text(config->name()), builder.getStringAttr(text(config->value()))));
  set(configsAttrName, builder.getDictionaryAttr(configs));
  SmallVector<NamedAttribute> tied;
  if (program.tied())
    for (const fb::Tied *one : *program.tied())
      tied.push_back(
          builder.getNamedAttr(text(one->entry()), builder.getStringAttr(text(one->why()))));
  if (!tied.empty())
    set(tiedAttrName, builder.getDictionaryAttr(tied));
  setStrategy(*module, strategyIn(program));
  if (program.loss_scale())
    set(lossScaleAttrName, builder.getStringAttr(text(program.loss_scale())));
  if (program.choices())
    readChoices();
  if (program.keeping())
    readKeeping();
  if (program.placements())
    readPlacements();
  if (program.mesh()) {
    set(meshAttrName, MeshAttr::get(builder.getContext(), fb::meshOf(program)));
    set(rankAttrName, number(program.rank()));
  }
  set(batchAttrName, number(program.batch()));
  set(accumulateAttrName, number(program.accumulate()));
  set(stepsAttrName, number(program.steps()));
  set(epochsAttrName, number(program.epochs()));
  if (program.warmup())
    set(warmupAttrName, number(program.warmup()));
  if (program.clips())
    set(clipsAttrName, builder.getUnitAttr());
  if (program.training_digest())
    set(trainingDigestAttrName, number(program.training_digest()));
  if (program.predict_digest())
    set(predictDigestAttrName, number(program.predict_digest()));
  const fb::Device &device = fb::deviceOf(program);
  set(plan::targetAttrName, builder.getStringAttr(text(device.target())));
  set(plan::persistentAttrName, number(device.persistent()));
  set(plan::arenaAttrName, number(device.arena()));
  set(plan::threadScratchAttrName, number(device.thread_scratch()));
  if (device.pinned())
    set(plan::pinnedAttrName, number(device.pinned()));
  if (device.host())
    set(plan::hostAttrName, number(device.host()));
}

void PlanReader::readChoices() {
  SmallVector<PrecisionRecord> choices;
  for (const fb::Choice *one : *program.choices())
    choices.push_back({locate(one->location()), text(one->op()).str(), int64_t(one->times()),
                       typeOf(builder.getContext(), fb::elementOf(one->computes())),
                       typeOf(builder.getContext(), fb::elementOf(one->stores())),
                       text(one->why()).str()});
  setPrecisionReport(*module, choices);
}

void PlanReader::readPlacements() {
  SmallVector<LayoutRecord> placements;
  for (const fb::Placement *one : *program.placements())
    placements.push_back({locate(one->location()), text(one->what()).str(), one->variable(),
                          int64_t(one->times()), text(one->layout()).str(),
                          text(one->why()).str()});
  setLayoutReport(*module, placements);
}

void PlanReader::readModelFlops(const fb::Entry &entry) {
  if (!entry.model_flops())
    return;
  SmallVector<LineFlops> lines;
  if (entry.model_lines())
    for (const fb::LineFlops *line : *entry.model_lines())
      lines.push_back({locate(&line->location()), line->flops()});
  setModelFlops(*module, text(entry.name()), lines);
}

void PlanReader::readKeeping() {
  SavedActivationsReport keeping;
  keeping.seconds = program.keeping()->seconds();
  keeping.scratch = int64_t(program.keeping()->scratch());
  keeping.least = int64_t(program.keeping()->least());
  for (const fb::Kept *one : *program.keeping()->tensors())
    keeping.tensors.push_back({locate(one->location()), text(one->what()).str(),
                               int64_t(one->bytes()), int64_t(one->times()), one->seconds(),
                               Fate(one->fate()), text(one->why()).str()});
  setSavedActivationsReport(*module, keeping);
}

void PlanReader::readVariable(const fb::Variable &variable) {
  std::string symbol = text(variable.name()).str();
  if (variable.role() == fb::Role::run)
    symbol = runPrefix + symbol;
  variables.push_back(plan::VariableOp::create(
      builder, locate(variable.location()), symbol, Role(variable.role()), ownTensor(variable),
      number(variable.offset()), variable.space() == fb::Space::host, shardingOf(variable)));
}

/// The launches from `first` on that are one kernel of the plan.
LogicalResult PlanReader::readKernel(uint32_t first) {
  const auto &kernels = *program.kernels();
  const fb::Kernel &kernel = *kernels[first];
  auto shape = symbolizeKernelShape(text(kernel.shape()));
  if (!shape)
    return emitError(unknown) << "kernel '" << text(kernel.symbol())
                              << "' is of an unknown shape, '" << text(kernel.shape()) << "'";
  SmallVector<Attribute> parts, takes;
  for (uint32_t i = first; i < kernels.size() && (i == first || kernels[i]->part() != 0); ++i)
    parts.push_back(plan::PartAttr::get(
        builder.getContext(), text(kernels[i]->suffix()), int64_t(kernels[i]->tasks()),
        int64_t(kernels[i]->threads()), int64_t(kernels[i]->shared())));
  for (const fb::Operand *operand : *kernel.operands())
    takes.push_back(plan::OperandAttr::get(builder.getContext(), plan::Mode(operand->mode()),
                                           int64_t(operand->size())));
  StringRef name = text(kernel.symbol()).drop_back(text(kernel.suffix()).size());
  auto op = plan::KernelOp::create(builder, unknown, name, *shape, builder.getArrayAttr(parts),
                                   builder.getArrayAttr(takes), kernel.thread_scratch(),
                                   kernel.flops(), kernel.bytes(), kernel.recomputed_flops());
  for (size_t part = 0; part < parts.size(); ++part)
    kernelOf.emplace_back(op, part);
  return success();
}

LogicalResult PlanReader::readMeanings() {
  llvm::DenseMap<Operation *, plan::LaunchOp> firstLaunch;
  llvm::StringMap<plan::KernelOp> kernels;
  for (auto kernel : module->getOps<plan::KernelOp>())
    kernels[kernel.getSymName()] = kernel;
  module->walk([&](plan::LaunchOp launch) {
    firstLaunch.try_emplace(kernels.lookup(launch.getKernel()), launch);
  });
  for (auto [i, place] : llvm::enumerate(kernelOf)) {
    auto [op, part] = place;
    if (part != 0)
      continue;
    if (failed(parseMeaning(text((*program.kernels())[i]->meaning()), op)))
      return failure();
    auto launch = firstLaunch.lookup(op);
    Location loc = launch ? launch.getLoc() : unknown;
    op->setLoc(loc);
    auto meaning = cast<KernelOp>(op.getBody().front().front());
    meaning->setLoc(loc);
    Block &body = meaning.getBody().front();
    for (Block *block : {&op.getBody().front(), &body})
      for (BlockArgument argument : block->getArguments())
        argument.setLoc(loc);
    for (auto [inner, line] : llvm::zip(body, locationsOfAll(loc, body.getOperations().size() - 1)))
      inner.setLoc(line);
    body.getTerminator()->setLoc(loc);
  }
  return success();
}

Value PlanReader::use(uint32_t variable) {
  Value &value = uses[variable];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    if (lastUse)
      builder.setInsertionPointAfter(lastUse);
    else
      builder.setInsertionPointToStart(&entryOp.getBody().front());
    value = plan::UseOp::create(builder, unknown, variables[variable]);
    lastUse = value.getDefiningOp();
  }
  return value;
}

Value PlanReader::buffer(const fb::Ref &ref) {
  return ref.memory() == fb::Memory::variable ? use(ref.index()) : buffers[ref.index()];
}

SmallVector<Value> PlanReader::operandsOf(const fb::Action &action) {
  SmallVector<Value> operands;
  if (!action.operands())
    return operands;
  for (auto [i, ref] : llvm::enumerate(*action.operands())) {
    SmallVector<Value> indices;
    SmallVector<int64_t> strides, moduli;
    if (action.moves())
      for (const fb::Move *move : *action.moves())
        if (move->operand() == i) {
          indices.push_back(rounds[move->loop()]);
          strides.push_back(move->bytes());
          moduli.push_back(int64_t(move->modulus()));
        }
    Value memory = buffer(*ref);
    operands.push_back(ref->offset() == 0 && indices.empty()
                           ? memory
                           : plan::PartOp::create(builder, unknown, memory, ref->offset(), indices,
                                                  strides, moduli));
  }
  return operands;
}

void PlanReader::readPort(const fb::Port &port) {
  StringRef config = text(port.limit_config());
  Value place = buffer(*port.ref());
  if (port.ref()->offset() != 0)
    place = plan::PartOp::create(builder, unknown, place, port.ref()->offset(), ValueRange());
  plan::PortOp::create(
      builder, locate(port.location()),
      plan::PortKindAttr::get(builder.getContext(), plan::PortKind(port.kind())),
      builder.getStringAttr(text(port.name())), TypeAttr::get(ownTensor(port)), place,
      number(port.term()), builder.getF64FloatAttr(port.weight()), number(port.limit()),
      config.empty() ? StringAttr() : builder.getStringAttr(config), shardingOf(port));
}

void PlanReader::readEntry(const fb::Entry &entry) {
  OpBuilder::InsertionGuard guard(builder);
  entryOp = plan::EntryOp::create(builder, unknown, text(entry.name()));
  builder.createBlock(&entryOp.getBody());
  uses.assign(program.variables()->size(), Value());
  lastUse = nullptr;
  buffers.clear();
  for (const fb::Buffer *buffer : *entry.buffers())
    buffers.push_back(plan::AllocOp::create(
        builder, locate(buffer->location()),
        plan::BufferType::get(builder.getContext(), plan::Space(buffer->space())),
        number(buffer->size()), builder.getStringAttr(text(buffer->label())),
        number(buffer->offset()), number(buffer->first()), number(buffer->last())));
  events.clear();
  for (uint32_t i = 0; i < entry.events(); ++i)
    events.push_back(plan::EventOp::create(builder, unknown));
  for (const fb::Port *port : *entry.inputs())
    readPort(*port);
  readActions(*entry.actions());
  for (const fb::Port *port : *entry.outputs())
    readPort(*port);
}

void PlanReader::readActions(const Actions &actions) {
  for (const fb::Action *action : actions)
    readAction(*action);
}

Location PlanReader::locate(const fb::Action &action) {
  if (!action.work_as_Launch() || !action.lines())
    return locate(action.locations());
  SmallVector<Location> ops;
  for (uint16_t line : *action.lines())
    ops.push_back(line == fb::noLine ? unknown : locate(action.locations()->Get(line)));
  return locationOfAll(builder.getContext(), ops);
}

void PlanReader::readAction(const fb::Action &action) {
  Location loc = locate(action);
  SmallVector<Value> operands = operandsOf(action);
  uint64_t queue = action.queue();
  if (const fb::Launch *launch = action.work_as_Launch()) {
    auto [kernel, part] = kernelOf[launch->kernel()];
    plan::LaunchOp::create(builder, loc, kernel.getSymName(), part, operands, queue);
  } else if (const fb::Call *call = action.work_as_Call()) {
    auto spec = plan::SpecAttr::get(builder.getContext(), fb::specOf(*call));
    plan::CallOp::create(builder, loc, spec, operands, queue);
  } else if (const fb::Loop *loop = action.work_as_Loop()) {
    auto op = plan::LoopOp::create(builder, loc, loop->count(), operands.front(), queue);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&op.getBody(), {}, plan::IndexType::get(builder.getContext()), loc);
    rounds.push_back(op.index());
    readActions(*loop->body());
    rounds.pop_back();
  } else if (const fb::Copy *copy = action.work_as_Copy()) {
    plan::CopyOp::create(builder, loc, operands[0], operands[1], copy->size(), queue);
  } else if (const fb::Collective *collective = action.work_as_Collective()) {
    SmallVector<int64_t> bytes(collective->bytes()->begin(), collective->bytes()->end());
    plan::CollectiveOp::create(builder, loc, plan::CollectiveKind(collective->kind()),
                               collective->axis()->string_view(), operands[0], operands[1], bytes,
                               int64_t(collective->own()),
                               typeOf(builder.getContext(), fb::elementOf(collective->dtype())),
                               int64_t(collective->number()), queue);
  } else if (const fb::Transfer *transfer = action.work_as_Transfer()) {
    auto make = [&]<class Op>(Op) {
      Op::create(builder, loc, operands[0], transfer->size(),
                 typeOf(builder.getContext(), fb::elementOf(transfer->dtype())),
                 transfer->axis()->string_view(), transfer->peer(), transfer->number(),
                 transfer->round(), queue);
    };
    if (transfer->kind() == fb::TransferKind::send)
      make(plan::SendOp());
    else
      make(plan::ReceiveOp());
  } else if (const fb::Record *record = action.work_as_Record()) {
    plan::RecordOp::create(builder, loc, events[record->event()], queue);
  } else {
    plan::WaitOp::create(builder, loc, events[action.work_as_Wait()->event()], queue);
  }
}

OwningOpRef<ModuleOp> PlanReader::read() {
  module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  readAttributes();
  for (const fb::Variable *variable : *program.variables())
    readVariable(*variable);
  for (uint32_t i = 0; i < program.kernels()->size(); ++i)
    if ((*program.kernels())[i]->part() == 0 && failed(readKernel(i)))
      return {};
  for (const fb::Entry *entry : *program.entries()) {
    readEntry(*entry);
    readModelFlops(*entry);
  }
  if (program.blobs())
    for (const fb::Blob *blob : *program.blobs())
      plan::setCode(*module, plan::CodeFormat(blob->format()),
                    {reinterpret_cast<const char *>(blob->bytes()->data()), blob->bytes()->size()});
  if (failed(readMeanings()) || failed(verify(*module)))
    return {};
  return std::move(module);
}

} // namespace

OwningOpRef<ModuleOp> readPlan(std::span<const std::byte> file, MLIRContext &context) {
  context.loadDialect<WeirDialect, plan::PlanDialect>();
  return PlanReader(artifact::verify(file), context).read();
}

} // namespace weir
