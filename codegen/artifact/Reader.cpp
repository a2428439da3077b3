//===- Reader.cpp - An artifact's plan as IR ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/artifact/Reader.h"
#include "codegen/artifact/Meaning.h"
#include "mlir/IR/Verifier.h"
#include "runtime/artifact/Reader.h"

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
      : program(program), builder(&context), unknown(UnknownLoc::get(&context)),
        bufferType(plan::BufferType::get(&context)) {}

  OwningOpRef<ModuleOp> read();

private:
  void readAttributes();
  void readVariable(const fb::Variable &variable);
  void readKernel(uint32_t first);
  LogicalResult readMeanings();
  void readEntry(const fb::Entry &entry);
  void readPort(const fb::Port &port);
  void readActions(const Actions &actions);
  void readAction(const fb::Action &action, Location loc);
  void read(const fb::Launch &launch, const Lines *lines);
  void read(const fb::Product &product, Location loc);
  void read(const fb::Convolution &convolution, Location loc);
  void read(const fb::Repeat &repeat, Location loc);

  Value buffer(const fb::Ref &ref);
  Value optional(const fb::Ref *ref) { return ref ? buffer(*ref) : Value(); }
  Value use(uint32_t variable);
  Type tensor(fb::DType dtype, const flatbuffers::Vector<int64_t> &shape);
  Location locate(const fb::Location *location);
  Location locate(const Lines *lines);
  IntegerAttr number(uint64_t value) { return builder.getI64IntegerAttr(value); }
  DenseI64ArrayAttr numbers(std::initializer_list<uint64_t> values) {
    return builder.getDenseI64ArrayAttr(SmallVector<int64_t>(values.begin(), values.end()));
  }

  const fb::Program &program;
  OpBuilder builder;
  Location unknown;
  Type bufferType;
  OwningOpRef<ModuleOp> module;
  std::vector<std::pair<plan::KernelOp, uint32_t>>
      kernelOf;                      ///< by Program.kernels: the op and its part's number
  std::vector<std::string> symbolOf; ///< by Program.variables
  // Of the entry that is read:
  plan::EntryOp entryOp;
  std::vector<Value> buffers, uses;
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

Type PlanReader::tensor(fb::DType dtype, const flatbuffers::Vector<int64_t> &shape) {
  Type element;
  switch (dtype) {
  case fb::DType::f32:
    element = builder.getF32Type();
    break;
  case fb::DType::i32:
    element = builder.getI32Type();
    break;
  case fb::DType::u8:
    element = builder.getIntegerType(8, /*isSigned=*/false);
    break;
  case fb::DType::b8:
    element = builder.getI1Type();
    break;
  }
  return RankedTensorType::get(SmallVector<int64_t>(shape.begin(), shape.end()), element);
}

void PlanReader::readAttributes() {
  auto set = [&](StringRef name, Attribute value) { (*module)->setAttr(name, value); };
  set("weir.model", builder.getStringAttr(text(program.model())));
  SmallVector<NamedAttribute> configs;
  if (program.configs())
    for (const fb::Config *config : *program.configs())
      configs.push_back(
          builder.getNamedAttr(text(config->name()), builder.getStringAttr(text(config->value()))));
  set("weir.configs", builder.getDictionaryAttr(configs));
  SmallVector<NamedAttribute> tied;
  if (program.tied())
    for (const fb::Tied *one : *program.tied())
      tied.push_back(
          builder.getNamedAttr(text(one->entry()), builder.getStringAttr(text(one->why()))));
  if (!tied.empty())
    set("weir.tied", builder.getDictionaryAttr(tied));
  set("weir.batch", number(program.batch()));
  set("weir.accumulate", number(program.accumulate()));
  set("weir.steps", number(program.steps()));
  set("weir.epochs", number(program.epochs()));
  if (program.training_digest())
    set("weir.training_digest", number(program.training_digest()));
  if (program.predict_digest())
    set("weir.predict_digest", number(program.predict_digest()));
  set("plan.target", builder.getStringAttr(text(program.target())));
  set("plan.persistent", number(program.persistent()));
  set("plan.arena", number(program.arena()));
  set("plan.thread_scratch", number(program.thread_scratch()));
}

void PlanReader::readVariable(const fb::Variable &variable) {
  std::string symbol = text(variable.name()).str();
  if (variable.role() == fb::Role::run)
    symbol = "run/" + symbol;
  plan::VariableOp::create(builder, locate(variable.location()), symbol,
                           fb::EnumNameRole(variable.role()),
                           tensor(variable.dtype(), *variable.shape()), number(variable.offset()));
  symbolOf.push_back(symbol);
}

/// The launches from `first` on that are one kernel of the plan.
void PlanReader::readKernel(uint32_t first) {
  const auto &kernels = *program.kernels();
  const fb::Kernel &kernel = *kernels[first];
  SmallVector<Attribute> suffixes;
  SmallVector<int64_t> tasks, sizes;
  SmallVector<bool> written;
  for (uint32_t i = first; i < kernels.size() && (i == first || kernels[i]->part() != 0); ++i) {
    suffixes.push_back(builder.getStringAttr(text(kernels[i]->suffix())));
    tasks.push_back(kernels[i]->tasks());
  }
  for (const fb::Operand *operand : *kernel.operands()) {
    sizes.push_back(operand->size());
    written.push_back(operand->written());
  }
  StringRef name = text(kernel.symbol()).drop_back(text(kernel.suffix()).size());
  auto op = plan::KernelOp::create(
      builder, unknown, builder.getStringAttr(name), builder.getStringAttr(text(kernel.shape())),
      builder.getArrayAttr(suffixes), builder.getDenseI64ArrayAttr(tasks),
      builder.getDenseI64ArrayAttr(sizes), builder.getDenseBoolArrayAttr(written),
      number(kernel.thread_scratch()), number(kernel.flops()), number(kernel.bytes()));
  for (size_t part = 0; part < tasks.size(); ++part)
    kernelOf.emplace_back(op, part);
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
    for (auto [inner, line] :
         llvm::zip(body, plan::locationsOfOps(loc, body.getOperations().size() - 1)))
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
    value = plan::UseOp::create(builder, unknown, bufferType, symbolOf[variable]);
    lastUse = value.getDefiningOp();
  }
  return value;
}

Value PlanReader::buffer(const fb::Ref &ref) {
  Value memory = ref.space() == fb::Space::variable ? use(ref.index()) : buffers[ref.index()];
  if (ref.offset() == 0 && ref.stride() == 0)
    return memory;
  return plan::PartOp::create(builder, unknown, bufferType, memory, number(ref.offset()),
                              number(ref.stride()));
}

void PlanReader::readPort(const fb::Port &port) {
  StringRef config = text(port.limit_config());
  plan::PortOp::create(
      builder, locate(port.location()), builder.getStringAttr(fb::EnumNamePortKind(port.kind())),
      builder.getStringAttr(text(port.name())), TypeAttr::get(tensor(port.dtype(), *port.shape())),
      buffer(*port.ref()), number(port.term()), builder.getF64FloatAttr(port.weight()),
      number(port.limit()), config.empty() ? StringAttr() : builder.getStringAttr(config));
}

void PlanReader::readEntry(const fb::Entry &entry) {
  OpBuilder::InsertionGuard guard(builder);
  entryOp = plan::EntryOp::create(builder, unknown, text(entry.name()));
  builder.createBlock(&entryOp.getBody());
  uses.assign(program.variables()->size(), Value());
  lastUse = nullptr;
  buffers.clear();
  for (const fb::Buffer *buffer : *entry.buffers())
    buffers.push_back(plan::BufferOp::create(
        builder, locate(buffer->location()), bufferType, number(buffer->size()),
        builder.getStringAttr(text(buffer->label())), number(buffer->offset()),
        number(buffer->first()), number(buffer->last())));
  for (const fb::Port *port : *entry.inputs())
    readPort(*port);
  readActions(*entry.actions());
  for (const fb::Port *port : *entry.outputs())
    readPort(*port);
}

void PlanReader::readActions(const Actions &actions) {
  for (const fb::Action *action : actions) {
    if (const fb::Launch *launch = action->work_as_Launch())
      read(*launch, action->locations());
    else
      readAction(*action, locate(action->locations()));
  }
}

void PlanReader::readAction(const fb::Action &action, Location loc) {
  if (const fb::Product *product = action.work_as_Product())
    return read(*product, loc);
  if (const fb::Convolution *convolution = action.work_as_Convolution())
    return read(*convolution, loc);
  if (const fb::Repeat *repeat = action.work_as_Repeat())
    return read(*repeat, loc);
  if (const fb::Copy *copy = action.work_as_Copy()) {
    Value from = buffer(*copy->from()), to = buffer(*copy->to());
    plan::CopyOp::create(builder, loc, from, to, number(copy->size()));
    return;
  }
  const fb::Fill &fill = *action.work_as_Fill();
  Value to = buffer(*fill.to());
  plan::FillOp::create(builder, loc, to, number(fill.size()), number(fill.value()));
}

void PlanReader::read(const fb::Launch &launch, const Lines *lines) {
  auto [kernel, part] = kernelOf[launch.kernel()];
  SmallVector<Value> operands;
  for (const fb::Ref *ref : *launch.operands())
    operands.push_back(buffer(*ref));
  Location loc = locate(lines);
  if (launch.lines()) {
    SmallVector<Location> ops;
    for (uint16_t line : *launch.lines())
      ops.push_back(line == fb::noLine ? unknown : locate(lines->Get(line)));
    loc = plan::locationOfOps(builder.getContext(), ops);
  }
  plan::LaunchOp::create(builder, loc, kernel.getSymName(), part, operands);
}

void PlanReader::read(const fb::Product &p, Location loc) {
  Value a = buffer(*p.a()), b = buffer(*p.b()), c = buffer(*p.c()), bias = optional(p.bias());
  plan::ProductOp::create(builder, loc, a, b, c, bias, numbers({p.batch(), p.m(), p.n(), p.k()}),
                          numbers({p.a_batch(), p.a_row(), p.a_column()}),
                          numbers({p.b_batch(), p.b_row(), p.b_column()}),
                          numbers({p.c_batch(), p.c_row()}),
                          p.relu() ? builder.getUnitAttr() : UnitAttr(),
                          p.accumulate() ? builder.getUnitAttr() : UnitAttr(),
                          numbers({p.tile_batch(), p.tile_m(), p.tile_n()}));
}

void PlanReader::read(const fb::Convolution &c, Location loc) {
  Value input = buffer(*c.input()), weight = buffer(*c.weight()), output = buffer(*c.output());
  Value partials = optional(c.partials());
  plan::ConvolutionOp::create(
      builder, loc, builder.getStringAttr(fb::EnumNameConvolutionKind(c.kind())),
      builder.getStringAttr(fb::EnumNameLayout(c.layout())), input, weight, output, partials,
      numbers({c.images(), c.channels(), c.height(), c.width(), c.filters(), c.kernel_height(),
               c.kernel_width()}),
      numbers({c.stride_h(), c.stride_w()}), numbers({c.padding_h(), c.padding_w()}),
      number(c.tile_images()));
}

void PlanReader::read(const fb::Repeat &repeat, Location loc) {
  auto op = plan::RepeatOp::create(builder, loc, number(repeat.count()), buffer(*repeat.ordinal()));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  readActions(*repeat.body());
}

OwningOpRef<ModuleOp> PlanReader::read() {
  module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  readAttributes();
  for (const fb::Variable *variable : *program.variables())
    readVariable(*variable);
  for (uint32_t i = 0; i < program.kernels()->size(); ++i)
    if ((*program.kernels())[i]->part() == 0)
      readKernel(i);
  for (const fb::Entry *entry : *program.entries())
    readEntry(*entry);
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
