//===- Writer.cpp - A plan as the bytes of an artifact --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Writer.h"
#include "artifact/Alternatives.h"
#include "artifact/Artifact_generated.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "codegen/artifact/Meaning.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelLimits.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/reports/LayoutReport.h"
#include "ir/weir/reports/PrecisionReport.h"
#include "ir/weir/reports/SavedActivationsReport.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "strategy/Fields.h"
#include "support/mesh/Layout.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace fb = weir::artifact;

namespace weir {

static_assert(mostKernelOperands + 1 == artifact::maxOperands,
              "fusion makes what the artifact's checker accepts");

namespace {

/// Of a tensor of a verified plan.
fb::DType dtypeOf(Type type) {
  return fb::DType(*elementOf(cast<RankedTensorType>(type).getElementType()));
}

std::vector<int64_t> shapeVector(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return {shape.begin(), shape.end()};
}

// The schema's enums are the dialects'.
static_assert(int(fb::Role::MAX) == int(getMaxEnumValForRole()) &&
              int(fb::PortKind::MAX) == int(plan::getMaxEnumValForPortKind()) &&
              int(fb::Space::MAX) == int(plan::getMaxEnumValForSpace()) &&
              int(fb::Mode::MAX) == int(plan::getMaxEnumValForMode()) &&
              int(fb::BlobFormat::MAX) == int(plan::getMaxEnumValForCodeFormat()) &&
              int(fb::CollectiveKind::MAX) == int(plan::getMaxEnumValForCollectiveKind()) &&
              int(fb::CollectiveKind::MAX) == int(spec::CollectiveKind::shift));

/// Whether the value is a sum of truth values that say what is_finite of some elements is not, as
/// passes/recipe/SkipSteps.cpp makes it, and perhaps of other such sums.
bool countsNotFinite(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto cast = dyn_cast<CastOp>(op);
      cast && tensorType(cast.getInput()).getElementType().isInteger(1)) {
    SetVector<Operation *> behind;
    BackwardSliceOptions options;
    options.inclusive = true;
    return succeeded(getBackwardSlice(cast.getOperation(), &behind, options)) &&
           llvm::any_of(behind, [](Operation *one) { return isa<IsFiniteOp>(one); });
  }
  return isa<AddOp, ReduceOp, View>(op) && llvm::any_of(op->getOperands(), countsNotFinite);
}

template <class Op> fb::TransferT transferOf(Op op, fb::TransferKind kind) {
  fb::TransferT work;
  work.kind = kind;
  work.axis = op.getAxis().str();
  work.peer = uint32_t(op.getPeer());
  work.size = op.getSize();
  work.dtype = fb::DType(*elementOf(op.getElement()));
  work.number = uint32_t(op.getNumber());
  work.round = uint32_t(op.getRound());
  return work;
}

class Writer {
public:
  explicit Writer(ModuleOp module) : module(module) {}

  std::unique_ptr<fb::ProgramT> write() && {
    const Strategy &strategy = strategyOf(module);
    program.model = text(modelAttrName);
    program.batch = number(batchAttrName);
    program.accumulate = number(accumulateAttrName);
    program.steps = number(stepsAttrName);
    program.epochs = number(epochsAttrName);
    program.warmup = number(warmupAttrName);
    program.clips = module->hasAttr(clipsAttrName);
    program.training_digest = number(trainingDigestAttrName);
    program.predict_digest = number(predictDigestAttrName);
    for (fb::Precision precision : fb::EnumValuesPrecision())
      if (precisionNamed(fb::EnumNamePrecision(precision)) == *strategy.precision)
        program.precision = precision;
    program.strategy = weir::strategy::recordedText(strategy);
    program.loss_scale = text(lossScaleAttrName);
    program.mesh = meshText(meshAttrName);
    program.hosts = strategy.hosts.text();
    program.rank = number(rankAttrName);
    program.master = fb::DType(*strategy.paramType);
    writeChoices();
    writeKeeping();
    if (program.rank == 0)
      writePlacements();
    auto device = std::make_unique<fb::DeviceT>();
    device->target = text(plan::targetAttrName);
    device->persistent = number(plan::persistentAttrName);
    device->arena = number(plan::arenaAttrName);
    device->thread_scratch = number(plan::threadScratchAttrName);
    device->pinned = number(plan::pinnedAttrName);
    device->host = number(plan::hostAttrName);
    program.devices.push_back(std::move(device));
    if (auto configs = module->getAttrOfType<DictionaryAttr>(configsAttrName))
      for (NamedAttribute config : configs) {
        auto entry = std::make_unique<fb::ConfigT>();
        entry->name = config.getName().str();
        entry->value = cast<StringAttr>(config.getValue()).str();
        program.configs.push_back(std::move(entry));
      }
    if (auto tied = module->getAttrOfType<DictionaryAttr>(tiedAttrName))
      for (NamedAttribute one : tied) {
        auto entry = std::make_unique<fb::TiedT>();
        entry->entry = one.getName().str();
        entry->why = cast<StringAttr>(one.getValue()).str();
        program.tied.push_back(std::move(entry));
      }
    for (auto variable : module.getOps<plan::VariableOp>())
      writeVariable(variable);
    for (auto kernel : module.getOps<plan::KernelOp>())
      writeKernel(kernel);
    for (auto entry : module.getOps<plan::EntryOp>())
      writeEntry(entry);
    if (ArrayRef<char> code = plan::codeOf(module); !code.empty()) {
      auto blob = std::make_unique<fb::BlobT>();
      blob->format = fb::BlobFormat(plan::codeFormatOf(module));
      blob->bytes.assign(reinterpret_cast<const uint8_t *>(code.begin()),
                         reinterpret_cast<const uint8_t *>(code.end()));
      program.blobs.push_back(std::move(blob));
    }
    for (auto &[name, index] : files)
      program.files.push_back(name.str());
    return std::make_unique<fb::ProgramT>(std::move(program));
  }

private:
  std::string text(StringRef name) {
    auto attribute = module->getAttrOfType<StringAttr>(name);
    return attribute ? attribute.str() : "";
  }
  uint64_t number(StringRef name) {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  }

  std::string meshText(StringRef name) {
    auto attribute = module->getAttrOfType<MeshAttr>(name);
    return attribute ? attribute.getValue().text() : "";
  }

  static std::string shardingText(ShardingAttr sharding) {
    return sharding ? sharding.getValue().text() : "";
  }

  /// Of the tensor of which a rank's share has that type.
  std::vector<int64_t> wholeShape(Type type, ShardingAttr sharding) {
    return sharding ? layoutOn(sharding, *meshOf(module))->shape() : shapeVector(type);
  }

  std::unique_ptr<fb::Location> locate(Location loc) {
    FileLineColLoc line = modelLine(loc);
    if (!line)
      return nullptr;
    auto found = files.insert({line.getFilename().getValue(), uint32_t(files.size())});
    return std::make_unique<fb::Location>(found.first->second, line.getLine(), line.getColumn());
  }

  /// The place of the location's line in `lines`, where it is put if it is not there; noLine where
  /// it has none.
  uint16_t placeIn(std::vector<fb::Location> &lines, Location loc) {
    auto line = locate(loc);
    if (!line)
      return artifact::noLine;
    auto found = llvm::find_if(lines, [&](const fb::Location &other) {
      return other.file() == line->file() && other.line() == line->line() &&
             other.column() == line->column();
    });
    size_t place = found - lines.begin();
    if (place >= artifact::noLine)
      return artifact::noLine;
    if (found == lines.end())
      lines.push_back(*line);
    return place;
  }

  std::vector<fb::Location> linesOf(Location loc) {
    std::vector<fb::Location> lines;
    if (auto fused = dyn_cast<FusedLoc>(loc))
      for (Location part : fused.getLocations())
        placeIn(lines, part);
    else
      placeIn(lines, loc);
    return lines;
  }

  void writeChoices() {
    for (const PrecisionRecord &choice : precisionReportOf(module)) {
      auto made = std::make_unique<fb::ChoiceT>();
      made->op = choice.op;
      made->times = choice.times;
      made->computes = fb::DType(*elementOf(choice.computes));
      made->stores = fb::DType(*elementOf(choice.stores));
      made->why = choice.why;
      made->location = locate(choice.at);
      program.choices.push_back(std::move(made));
    }
  }

  void writePlacements() {
    for (const LayoutRecord &placement : layoutReportOf(module)) {
      auto made = std::make_unique<fb::PlacementT>();
      made->what = placement.what;
      made->variable = placement.isVariable;
      made->times = placement.times;
      made->layout = placement.layout;
      made->why = placement.why;
      made->location = locate(placement.at);
      program.placements.push_back(std::move(made));
    }
  }

  void writeKeeping() {
    std::optional<SavedActivationsReport> keeping = savedActivationsReportOf(module);
    if (!keeping)
      return;
    program.keeping = std::make_unique<fb::KeepingT>();
    program.keeping->seconds = keeping->seconds;
    program.keeping->scratch = keeping->scratch;
    program.keeping->least = keeping->least;
    for (const SavedTensor &kept : keeping->tensors) {
      auto made = std::make_unique<fb::KeptT>();
      made->what = kept.what;
      made->bytes = kept.bytes;
      made->times = kept.times;
      made->seconds = kept.seconds;
      made->fate = fb::Fate(kept.fate);
      made->why = kept.why;
      made->location = locate(kept.at);
      program.keeping->tensors.push_back(std::move(made));
    }
  }

  void writeVariable(plan::VariableOp op) {
    auto variable = std::make_unique<fb::VariableT>();
    StringRef name = op.getSymName();
    variable->role = fb::Role(op.getRole());
    if (variable->role == fb::Role::run)
      name.consume_front(runPrefix);
    variable->name = name.str();
    variable->dtype = dtypeOf(op.getType());
    variable->shape = wholeShape(op.getType(), op.getShardingAttr());
    variable->layout = shardingText(op.getShardingAttr());
    variable->offset = *op.getOffset();
    variable->size = storageBytes(op.getType());
    variable->location = locate(op.getLoc());
    variable->space = fb::Space(op.space());
    variables[op.getSymName()] = program.variables.size();
    program.variables.push_back(std::move(variable));
  }

  void writeKernel(plan::KernelOp op) {
    KernelOp meaning = op.meaning();
    for (size_t i = 0; i < op.getParts().size(); ++i) {
      auto kernel = std::make_unique<fb::KernelT>();
      kernel->suffix = op.getPart(i).getSuffix().str();
      kernel->symbol = op.getSymName().str() + kernel->suffix;
      kernel->part = i;
      kernel->shape = stringifyKernelShape(op.getShape()).str();
      kernel->tasks = op.getPart(i).getTasks();
      kernel->threads = op.getPart(i).getThreads();
      kernel->shared = op.getPart(i).getShared();
      kernel->thread_scratch = op.getThreadScratch();
      for (auto operand : op.getTakes().getAsRange<plan::OperandAttr>())
        kernel->operands.push_back({fb::Mode(operand.getMode()), uint64_t(operand.getBytes())});
      for (Operation &inner : meaning.getBody().front().without_terminator())
        kernel->ops.push_back(inner.getName().stripDialect().str());
      if (i == 0) {
        kernel->flops = op.getFlops();
        kernel->bytes = op.getBytes();
        kernel->meaning = printMeaning(op);
        kernel->recomputed_flops = op.getRecomputed();
        kernel->op_flops = flopsOfOps(meaning, kernel->flops - kernel->recomputed_flops);
        writeTensors(*kernel, meaning);
      }
      kernels[{op.getSymName(), i}] = program.kernels.size();
      program.kernels.push_back(std::move(kernel));
    }
  }

  /// Nothing where together they are not what the plan says.
  static std::vector<fb::OpFlops> flopsOfOps(KernelOp meaning, uint64_t together) {
    std::vector<fb::OpFlops> ops;
    uint64_t sum = 0;
    for (Operation &inner : meaning.getBody().front().without_terminator()) {
      double all = 0, products = 0;
      inner.walk([&](Costed op) { all += op.cost().flops; });
      inner.walk([&](Contracting op) { products += op.executedFlops(); });
      ops.push_back({uint64_t(all), uint64_t(products)});
      sum += uint64_t(all);
    }
    return sum == together && sum > 0 ? ops : std::vector<fb::OpFlops>();
  }

  void writeModelFlops(fb::EntryT &entry) {
    std::optional<SmallVector<LineFlops>> lines = modelFlops(module, entry.name);
    if (!lines)
      return;
    double sum = 0;
    for (const LineFlops &line : *lines) {
      std::unique_ptr<fb::Location> at = locate(line.at);
      entry.model_lines.emplace_back(at ? *at : fb::Location(), line.flops);
      sum += line.flops;
    }
    entry.model_flops = sum;
  }

  void writeTensors(fb::KernelT &kernel, KernelOp meaning) {
    for (TypeRange types : {TypeRange(meaning.getInputs()), TypeRange(meaning.getResultTypes())})
      for (Type type : types) {
        auto tensor = std::make_unique<fb::TensorTypeT>();
        tensor->dtype = dtypeOf(type);
        tensor->shape = shapeVector(type);
        kernel.tensors.push_back(std::move(tensor));
      }
    Block &body = meaning.getBody().front();
    for (auto constant : body.getOps<ConstantOp>())
      if (auto number = dyn_cast<FloatAttr>(constant.getValue());
          number && number.getValue().isInfinity())
        kernel.infinities |= number.getValue().isNegative() ? 2 : 1;
    for (auto [i, yielded] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (countsNotFinite(yielded))
        kernel.counts.push_back(meaning.getInputs().size() + i);
  }

  fb::Ref refTo(const plan::Place &place) {
    if (auto use = dyn_cast<plan::UseOp>(place.memory))
      return {fb::Memory::variable, variables.lookup(use.getVariable()), place.offset};
    return {fb::Memory::buffer, buffers.lookup(place.memory), place.offset};
  }

  void writeEntry(plan::EntryOp op) {
    auto entry = std::make_unique<fb::EntryT>();
    entry->name = op.getSymName().str();
    buffers.clear();
    events.clear();
    for (auto event : op.getBody().getOps<plan::EventOp>())
      events.try_emplace(event, events.size());
    entry->events = events.size();
    op.walk([&](plan::AllocOp alloc) {
      auto buffer = std::make_unique<fb::BufferT>();
      buffer->space = fb::Space(alloc.getResult().getType().getSpace());
      buffer->offset = *alloc.getOffset();
      buffer->size = alloc.getSize();
      buffer->first = *alloc.getFirst();
      buffer->last = *alloc.getLast();
      buffer->label = alloc.getLabel().str();
      buffer->location = locate(alloc.getLoc());
      buffers[alloc] = entry->buffers.size();
      entry->buffers.push_back(std::move(buffer));
    });
    for (auto op : op.getOps<plan::PortOp>()) {
      auto port = std::make_unique<fb::PortT>();
      port->name = op.getName().str();
      port->kind = fb::PortKind(op.getKind());
      port->dtype = dtypeOf(op.getType());
      port->shape = wholeShape(op.getType(), op.getShardingAttr());
      port->layout = shardingText(op.getShardingAttr());
      port->ref = std::make_unique<fb::Ref>(refTo(plan::placeOf(op.getBuffer())));
      port->term = op.getTerm();
      port->weight = op.getWeight().convertToDouble();
      port->limit = op.getLimit();
      port->limit_config = op.getLimitConfig().value_or("").str();
      port->location = locate(op.getLoc());
      (port->kind == fb::PortKind::input ? entry->inputs : entry->outputs)
          .push_back(std::move(port));
    }
    entry->actions = actionsOf(op.getBody().front());
    writeModelFlops(*entry);
    program.entries.push_back(std::move(entry));
  }

  std::vector<std::unique_ptr<fb::ActionT>> actionsOf(Block &block) {
    std::vector<std::unique_ptr<fb::ActionT>> actions;
    for (auto op : block.getOps<plan::Action>())
      actions.push_back(actionOf(op));
    return actions;
  }

  std::unique_ptr<fb::ActionT> actionOf(plan::Action op) {
    auto action = std::make_unique<fb::ActionT>();
    action->queue = op.getQueue();
    fb::DeviceT &device = *program.devices.front();
    device.queues = std::max(device.queues, action->queue + 1);
    for (Value operand : op->getOperands())
      if (isa<plan::BufferType>(operand.getType()))
        writeOperand(*action, operand);
    action->locations = linesOf(op.getLoc());
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](plan::LaunchOp launch) {
          fb::LaunchT work;
          work.kernel = kernels.lookup({launch.getKernel(), launch.getPart()});
          writeLines(*action, launch.getLoc(), program.kernels[work.kernel]->ops.size());
          action->work.Set(std::move(work));
        })
        .Case([&](plan::CallOp call) {
          fb::CallT work;
          work.kind = spec::kindOf(call.getCall());
          work.fields = spec::encode(call.getCall());
          action->work.Set(std::move(work));
        })
        .Case([&](plan::LoopOp loop) {
          fb::LoopT work;
          work.count = loop.getCount();
          work.body = actionsOf(loop.getBody().front());
          action->work.Set(std::move(work));
        })
        .Case([&](plan::CopyOp copy) {
          fb::CopyT work;
          work.size = copy.getSize();
          action->work.Set(std::move(work));
        })
        .Case([&](plan::CollectiveOp collective) {
          fb::CollectiveT work;
          work.kind = fb::CollectiveKind(collective.getKind());
          work.axis = collective.getAxis().str();
          work.bytes.assign(collective.getBytes().begin(), collective.getBytes().end());
          work.own = collective.getOwn();
          work.dtype = fb::DType(*elementOf(collective.getElement()));
          work.number = collective.getNumber();
          action->work.Set(std::move(work));
        })
        .Case(
            [&](plan::SendOp send) { action->work.Set(transferOf(send, fb::TransferKind::send)); })
        .Case([&](plan::ReceiveOp receive) {
          action->work.Set(transferOf(receive, fb::TransferKind::receive));
        })
        .Case([&](plan::RecordOp record) {
          fb::RecordT work;
          work.event = events.lookup(record.getEvent().getDefiningOp());
          action->work.Set(std::move(work));
        })
        .Case([&](plan::WaitOp wait) {
          fb::WaitT work;
          work.event = events.lookup(wait.getEvent().getDefiningOp());
          action->work.Set(std::move(work));
        })
        .Default([](Operation *) { llvm_unreachable("an action the schema does not have"); });
    return action;
  }

  void writeOperand(fb::ActionT &action, Value buffer) {
    plan::Place place = plan::placeOf(buffer);
    for (const plan::Place::Move &move : place.moves)
      action.moves.push_back({uint32_t(action.operands.size()), plan::depthOf(move.index),
                              uint32_t(move.modulus), move.stride});
    action.operands.push_back(refTo(place));
  }

  void writeLines(fb::ActionT &action, Location loc, size_t count) {
    if (auto fused = dyn_cast<FusedLoc>(loc); fused && fused.getMetadata())
      for (Location line : locationsOfAll(fused, count))
        action.lines.push_back(placeIn(action.locations, line));
  }

  ModuleOp module;
  fb::ProgramT program;
  llvm::MapVector<StringRef, uint32_t> files;
  llvm::StringMap<uint32_t> variables;
  llvm::DenseMap<Operation *, uint32_t> buffers, events;
  llvm::DenseMap<std::pair<StringRef, uint64_t>, uint32_t> kernels;
};

} // namespace

/// Has the table of a program without code point to the first one's: tables are written from the
/// end of a file on, in the order of their fields, so that it lies behind all of them, as it must.
static void shareCode(uint8_t *file, const fb::Program &first, const fb::Program &other) {
  auto mutableAt = [&](const void *place) {
    return file + (static_cast<const uint8_t *>(place) - file);
  };
  uint8_t *code = mutableAt(first.blobs()), *table = mutableAt(&other);
  assert(table < code && "offsets are forward");
  bool isSet =
      reinterpret_cast<flatbuffers::Table *>(table)->SetPointer(fb::Program::VT_BLOBS, code);
  assert(isSet && "it has code of its own, which is empty");
  (void)isSet;
}

/// Ranks share their code, and where they are empty of code, the programs for other meshes do.
static void shareCode(uint8_t *file) {
  const auto *first = flatbuffers::GetRoot<fb::Program>(file);
  for (const fb::Program *one : artifact::alternativesOf(*first)) {
    if (!one->blobs())
      continue;
    if (one->blobs()->size() && !one->blobs()->Get(0)->bytes()->size())
      shareCode(file, *first, *one);
    if (one->others())
      for (const fb::Program *other : *one->others())
        shareCode(file, *one, *other);
  }
}

static void clearCode(fb::ProgramT &program) {
  for (auto &blob : program.blobs)
    blob->bytes.clear();
}

static std::vector<std::byte> fileOf(const fb::ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  builder.Finish(fb::Program::Pack(builder, &program), fb::ProgramIdentifier());
  shareCode(builder.GetBufferPointer());
  auto bytes = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return artifact::wrap({bytes, builder.GetSize()});
}

std::vector<std::byte> writeArtifact(ArrayRef<ModuleOp> plans, ArrayRef<uint32_t> programOf) {
  std::unique_ptr<fb::ProgramT> program = Writer(plans.front()).write();
  for (ModuleOp other : plans.drop_front()) {
    assert(plan::codeOf(other) == plan::codeOf(plans.front()) && "ranks share their code");
    program->others.push_back(Writer(other).write());
    clearCode(*program->others.back());
  }
  if (plans.size() > 1)
    program->program_of.assign(programOf.begin(), programOf.end());
  return fileOf(*program);
}

std::vector<std::byte> joinArtifacts(ArrayRef<std::vector<std::byte>> artifacts) {
  uint64_t size = 0;
  std::unique_ptr<fb::ProgramT> all;
  for (const std::vector<std::byte> &file : artifacts) {
    if ((size += file.size()) > artifact::maxPayload)
      return {};
    std::unique_ptr<fb::ProgramT> program(
        fb::GetProgram(file.data() + sizeof(artifact::Header))->UnPack());
    for (auto &other : program->others)
      clearCode(*other);
    if (!all) {
      all = std::move(program);
      continue;
    }
    auto isSame = [](auto &one, auto &other) { return one->bytes == other->bytes; };
    if (std::ranges::equal(all->blobs, program->blobs, isSame))
      clearCode(*program);
    all->alternatives.push_back(std::move(program));
  }
  return fileOf(*all);
}

std::vector<std::byte> writeArtifact(ModuleOp plan) { return writeArtifact(ArrayRef(plan), {}); }

} // namespace weir
