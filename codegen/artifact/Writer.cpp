//===- Writer.cpp - A plan as the bytes of an artifact --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Writer.h"
#include "codegen/artifact/Meaning.h"
#include "ir/weir/KernelLimits.h"
#include "ir/weir/Locations.h"
#include "runtime/artifact/Artifact_generated.h"
#include "runtime/artifact/Header.h"
#include "runtime/artifact/Reader.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace fb = weir::artifact;

namespace weir {

static_assert(mostKernelOperands + 1 == artifact::maxOperands,
              "fusion makes what the artifact's checker accepts");

namespace {

fb::DType dtypeOf(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (element.isF32())
    return fb::DType::f32;
  if (element.isInteger(1))
    return fb::DType::b8;
  return element.isInteger(32) ? fb::DType::i32 : fb::DType::u8;
}

std::vector<int64_t> shapeVector(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return {shape.begin(), shape.end()};
}

template <typename Enum> Enum enumNamed(StringRef name, const char *const *names, Enum last) {
  for (int i = 0; i <= int(last); ++i)
    if (name == names[i])
      return Enum(i);
  llvm_unreachable("the plan names what the schema has");
}

class Writer {
public:
  explicit Writer(ModuleOp module) : module(module) {}

  std::vector<std::byte> write(ArrayRef<char> code) {
    program.model = text("weir.model");
    program.target = text("plan.target");
    program.batch = number("weir.batch");
    program.accumulate = number("weir.accumulate");
    program.steps = number("weir.steps");
    program.epochs = number("weir.epochs");
    program.training_digest = number("weir.training_digest");
    program.predict_digest = number("weir.predict_digest");
    program.persistent = number("plan.persistent");
    program.arena = number("plan.arena");
    program.thread_scratch = number("plan.thread_scratch");
    if (auto configs = module->getAttrOfType<DictionaryAttr>("weir.configs"))
      for (NamedAttribute config : configs) {
        auto entry = std::make_unique<fb::ConfigT>();
        entry->name = config.getName().str();
        entry->value = cast<StringAttr>(config.getValue()).str();
        program.configs.push_back(std::move(entry));
      }
    if (auto tied = module->getAttrOfType<DictionaryAttr>("weir.tied"))
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
    program.code.assign(reinterpret_cast<const uint8_t *>(code.begin()),
                        reinterpret_cast<const uint8_t *>(code.end()));
    for (auto &[name, index] : files)
      program.files.push_back(name.str());

    flatbuffers::FlatBufferBuilder builder(1 << 20);
    builder.Finish(fb::Program::Pack(builder, &program), fb::ProgramIdentifier());
    auto bytes = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
    return artifact::wrap({bytes, builder.GetSize()});
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
      return other.file() == line->file() && other.line() == line->line();
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

  void writeVariable(plan::VariableOp op) {
    auto variable = std::make_unique<fb::VariableT>();
    StringRef name = op.getSymName();
    variable->role = enumNamed(op.getRole(), fb::EnumNamesRole(), fb::Role::MAX);
    if (variable->role == fb::Role::run)
      name.consume_front("run/");
    variable->name = name.str();
    variable->dtype = dtypeOf(op.getType());
    variable->shape = shapeVector(op.getType());
    variable->offset = *op.getOffset();
    variable->size = storageBytes(op.getType());
    variable->location = locate(op.getLoc());
    variables[op.getSymName()] = program.variables.size();
    program.variables.push_back(std::move(variable));
  }

  void writeKernel(plan::KernelOp op) {
    KernelOp meaning = *op.getBody().front().getOps<KernelOp>().begin();
    for (auto [i, suffix] : llvm::enumerate(op.getSuffixes())) {
      auto kernel = std::make_unique<fb::KernelT>();
      kernel->suffix = cast<StringAttr>(suffix).getValue().str();
      kernel->symbol = op.getSymName().str() + kernel->suffix;
      kernel->part = i;
      kernel->shape = op.getShape().str();
      kernel->tasks = op.getTasks()[i];
      kernel->thread_scratch = op.getThreadScratch();
      for (auto [size, written] : llvm::zip(op.getSizes(), op.getWritten())) {
        auto operand = std::make_unique<fb::OperandT>();
        operand->size = size;
        operand->written = written;
        kernel->operands.push_back(std::move(operand));
      }
      for (Operation &inner : meaning.getBody().front().without_terminator())
        kernel->ops.push_back(inner.getName().stripDialect().str());
      if (i == 0) {
        kernel->flops = op.getFlops();
        kernel->bytes = op.getBytes();
        kernel->meaning = printMeaning(op);
      }
      kernels[{op.getSymName(), i}] = program.kernels.size();
      program.kernels.push_back(std::move(kernel));
    }
  }

  fb::Ref ref(Value buffer) {
    plan::Place place = plan::placeOf(buffer);
    if (auto use = dyn_cast<plan::UseOp>(place.memory))
      return {fb::Space::variable, variables.lookup(use.getVariable()), uint64_t(place.offset),
              uint64_t(place.stride)};
    return {fb::Space::buffer, buffers.lookup(place.memory), uint64_t(place.offset),
            uint64_t(place.stride)};
  }
  std::unique_ptr<fb::Ref> refPointer(Value buffer) {
    return buffer ? std::make_unique<fb::Ref>(ref(buffer)) : nullptr;
  }

  void writeEntry(plan::EntryOp op) {
    auto entry = std::make_unique<fb::EntryT>();
    entry->name = op.getSymName().str();
    buffers.clear();
    op.walk([&](plan::BufferOp alloc) {
      auto buffer = std::make_unique<fb::BufferT>();
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
      port->kind = enumNamed(op.getKind(), fb::EnumNamesPortKind(), fb::PortKind::MAX);
      port->dtype = dtypeOf(op.getType());
      port->shape = shapeVector(op.getType());
      port->ref = refPointer(op.getBuffer());
      port->term = op.getTerm();
      port->weight = op.getWeight().convertToDouble();
      port->limit = op.getLimit();
      port->limit_config = op.getLimitConfig().value_or("").str();
      port->location = locate(op.getLoc());
      (port->kind == fb::PortKind::input ? entry->inputs : entry->outputs)
          .push_back(std::move(port));
    }
    entry->actions = actionsOf(op.getBody().front());
    program.entries.push_back(std::move(entry));
  }

  std::vector<std::unique_ptr<fb::ActionT>> actionsOf(Block &block) {
    std::vector<std::unique_ptr<fb::ActionT>> actions;
    for (Operation &op : block) {
      auto action = std::make_unique<fb::ActionT>();
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](plan::LaunchOp launch) { action->work.Set(work(launch)); })
          .Case([&](plan::ProductOp product) { action->work.Set(work(product)); })
          .Case([&](plan::ConvolutionOp convolution) { action->work.Set(work(convolution)); })
          .Case([&](plan::RepeatOp repeat) { action->work.Set(work(repeat)); })
          .Case([&](plan::CopyOp copy) { action->work.Set(work(copy)); })
          .Case([&](plan::FillOp fill) { action->work.Set(work(fill)); });
      if (action->work.type == fb::Work::NONE)
        continue;
      action->locations = linesOf(op.getLoc());
      if (fb::LaunchT *launch = action->work.AsLaunch()) {
        size_t count = program.kernels[launch->kernel]->ops.size();
        if (auto fused = dyn_cast<FusedLoc>(op.getLoc()); fused && fused.getMetadata())
          for (Location line : plan::locationsOfOps(fused, count))
            launch->lines.push_back(placeIn(action->locations, line));
      }
      actions.push_back(std::move(action));
    }
    return actions;
  }

  fb::LaunchT work(plan::LaunchOp op) {
    fb::LaunchT launch;
    launch.kernel = kernels.lookup({op.getKernel(), op.getPart()});
    for (Value operand : op.getOperands())
      launch.operands.push_back(ref(operand));
    return launch;
  }

  fb::ProductT work(plan::ProductOp op) {
    fb::ProductT product;
    product.batch = op.getSizes()[0], product.m = op.getSizes()[1];
    product.n = op.getSizes()[2], product.k = op.getSizes()[3];
    product.a = refPointer(op.getA()), product.b = refPointer(op.getB()),
    product.c = refPointer(op.getC());
    product.a_batch = op.getAStrides()[0], product.a_row = op.getAStrides()[1],
    product.a_column = op.getAStrides()[2];
    product.b_batch = op.getBStrides()[0], product.b_row = op.getBStrides()[1],
    product.b_column = op.getBStrides()[2];
    product.c_batch = op.getCStrides()[0], product.c_row = op.getCStrides()[1];
    product.bias = refPointer(op.getBias());
    product.relu = op.getRelu();
    product.accumulate = op.getAccumulate();
    product.tile_batch = op.getTile()[0], product.tile_m = op.getTile()[1],
    product.tile_n = op.getTile()[2];
    return product;
  }

  fb::ConvolutionT work(plan::ConvolutionOp op) {
    fb::ConvolutionT convolution;
    ArrayRef<int64_t> sizes = op.getSizes();
    convolution.kind =
        enumNamed(op.getKind(), fb::EnumNamesConvolutionKind(), fb::ConvolutionKind::MAX);
    convolution.layout = enumNamed(op.getLayout(), fb::EnumNamesLayout(), fb::Layout::MAX);
    convolution.images = sizes[0], convolution.channels = sizes[1];
    convolution.height = sizes[2], convolution.width = sizes[3];
    convolution.filters = sizes[4], convolution.kernel_height = sizes[5],
    convolution.kernel_width = sizes[6];
    convolution.stride_h = op.getStrides()[0], convolution.stride_w = op.getStrides()[1];
    convolution.padding_h = op.getPadding()[0], convolution.padding_w = op.getPadding()[1];
    convolution.input = refPointer(op.getInput());
    convolution.weight = refPointer(op.getWeight());
    convolution.output = refPointer(op.getOutput());
    convolution.partials = refPointer(op.getPartials());
    convolution.tile_images = op.getTileImages();
    return convolution;
  }

  fb::RepeatT work(plan::RepeatOp op) {
    fb::RepeatT repeat;
    repeat.count = op.getCount();
    repeat.ordinal = refPointer(op.getOrdinal());
    repeat.body = actionsOf(op.getBody().front());
    return repeat;
  }

  fb::CopyT work(plan::CopyOp op) {
    fb::CopyT copy;
    copy.from = refPointer(op.getFrom());
    copy.to = refPointer(op.getTo());
    copy.size = op.getSize();
    return copy;
  }

  fb::FillT work(plan::FillOp op) {
    fb::FillT fill;
    fill.to = refPointer(op.getTo());
    fill.size = op.getSize();
    fill.value = op.getValue();
    return fill;
  }

  ModuleOp module;
  fb::ProgramT program;
  llvm::MapVector<StringRef, uint32_t> files;
  llvm::StringMap<uint32_t> variables;
  llvm::DenseMap<Operation *, uint32_t> buffers;
  llvm::DenseMap<std::pair<StringRef, uint64_t>, uint32_t> kernels;
};

} // namespace

std::vector<std::byte> writeArtifact(ModuleOp plan, ArrayRef<char> code) {
  return Writer(plan).write(code);
}

} // namespace weir
