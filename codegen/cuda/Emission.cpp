//===- Emission.cpp - One kernel on its way to CUDA C++ -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"
#include "ir/weir/kernel/Kernel.h"

#include "codegen/cuda/Print.h"
#include "ir/weir/interfaces/Elements.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weir::gpu {

/// What a scalar is in memory.
static Type storedType(Type scalar) {
  return scalar.isInteger(1) ? IntegerType::get(scalar.getContext(), 8) : scalar;
}

Emission::Emission(KernelOp kernel, const Architecture &architecture, ModuleOp module,
                   const Settings *settings)
    : kernel(kernel), architecture(architecture), builder(kernel.getContext()),
      loc(kernel.getLoc()), module(module), settings(settings) {}

int64_t Emission::choose(StringRef name, int64_t usual, ArrayRef<int64_t> options) {
  Knob knob{name.str(), usual, SmallVector<int64_t>(options)};
  if (!llvm::is_contained(options, usual))
    knob.options.push_back(usual);
  llvm::sort(knob.options);
  if (settings)
    if (auto found = settings->find(knob.name);
        found != settings->end() && llvm::is_contained(knob.options, found->second))
      knob.used = found->second;
  knobs.push_back(std::move(knob));
  return knobs.back().used;
}

LogicalResult Emission::requireServed() {
  if (!settings)
    return success();
  for (const auto &[name, value] : *settings) {
    const Knob *knob = llvm::find_if(knobs, [&](const Knob &knob) { return knob.name == name; });
    if (knob != knobs.end() && knob->used == value)
      continue;
    std::string shown;
    llvm::raw_string_ostream(shown).write_escaped(name);
    auto error = emitError(loc) << "the tuning file has " << shown << " = " << value
                                << " for this kernel, ";
    if (knob == knobs.end())
      return error << "whose schedule has no such number; run weir tune again";
    error << "which may be ";
    llvm::interleaveComma(knob->options, error);
    return error << "; run weir tune again";
  }
  return success();
}

void Emission::open(StringRef suffix, int64_t blocks, int64_t threadsOfBlock) {
  threads = threadsOfBlock;
  MLIRContext *context = builder.getContext();
  size_t tensors = kernel.getNumOperands() + kernel.getNumResults() + 1;
  SmallVector<Type> types(tensors, LLVM::LLVMPointerType::get(context));
  types.append(2, builder.getIndexType());
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, loc, "kernel" + suffix.str(),
                                  builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  block = entry->getArgument(tensors);
  thread = entry->getArgument(tensors + 1);
  plan.launches.push_back({suffix.str(), blocks, threads, 0});
  functions.push_back(function);
  laneSymbols.clear();

  int phase = elements ? elements->phase + 1 : 0;
  space = std::make_unique<IndexSpace>(context);
  space->declare(block, blocks);
  space->declare(thread, threads);
  elements = std::make_unique<Elements>(builder, *space, loc);
  elements->phase = phase;
  elements->read = [this](const Buffer &buffer, AffineExpr position) {
    return read(buffer, position);
  };
  for (auto [i, argument] : llvm::enumerate(body().getArguments()))
    elements->place(argument, Buffer{entry->getArgument(i),
                                     scalarType(tensorType(argument).getElementType()), int(i)});
}

void Emission::close() {
  for (const Elements::Load &load : elements->loads)
    places.load(load.input, load.position, load.phase, functions.size());
  func::ReturnOp::create(builder, loc);
}

void Emission::write(StringRef suffix, int64_t blocks, int64_t threadsOfBlock, int64_t shared,
                     std::string body) {
  plan.launches.push_back({suffix.str(), blocks, threadsOfBlock, shared});
  text.bodies.push_back(std::move(body));
}

std::string Emission::elementName(Type element) {
  if (element.isF32())
    return "weir_f32";
  // Conversions are those of every kernel.
  std::string name = formatName(element), widen = "weir_f32_of_" + name,
              narrow = "weir_" + name + "_of_f32";
  text.calls.insert(widen);
  if (text.calls.insert(narrow).second)
    text.declarations += "struct " + name + " {\n  typedef " + cudaType(element) +
                         " stored;\n  static __device__ float widen(stored x) { return " + widen +
                         "(x); }\n  static __device__ stored narrow(float x) { return " + narrow +
                         "(x); }\n};\n";
  return name;
}

Buffer Emission::result(unsigned index) {
  return {function.getArgument(kernel.getNumOperands() + index),
          scalarType(tensorType(kernel.getResult(index)).getElementType()), -1};
}

Buffer Emission::workspace(Type element, int64_t offset) {
  Value base = function.getArgument(kernel.getNumOperands() + kernel.getNumResults());
  if (offset) {
    // A constant of the op itself has 29 bits.
    LLVM::GEPArg place =
        llvm::isInt<29>(offset)
            ? LLVM::GEPArg(int32_t(offset))
            : LLVM::GEPArg(
                  Value(arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), offset)));
    base = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{place}, LLVM::GEPNoWrapFlags::inbounds);
  }
  return {base, element, -1};
}

Buffer Emission::ownArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = arith::ConstantIntOp::create(builder, loc, count, 64);
  return {LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                 storedType(element), size),
          element, -1};
}

Value Emission::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

scf::ForOp Emission::loop(Value low, Value high, Value step, ValueRange accumulators) {
  auto loop = scf::ForOp::create(builder, loc, low, high, step, accumulators);
  if (accumulators.empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

scf::ForOp Emission::loop(int64_t count, ValueRange accumulators) {
  Value low = index(0), high = index(count), step = index(1);
  scf::ForOp made = loop(low, high, step, accumulators);
  space->declare(made.getInductionVar(), count);
  return made;
}

void Emission::done(scf::ForOp loop, ValueRange accumulators) {
  scf::YieldOp::create(builder, loc, accumulators);
  builder.setInsertionPointAfter(loop);
}

void Emission::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value Emission::below(Value a, int64_t b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, index(b));
}

/// An input is aligned to the power of two in its bytes, up to an access of the widest: it may be a
/// microbatch's part of a batch, behind others of its size.
bool Emission::holdsWhole(const Buffer &buffer, int64_t count) {
  return buffer.input < 0 ||
         tensorType(kernel.getOperand(buffer.input)).getNumElements() % count == 0;
}

Value Emission::read(const Buffer &buffer, AffineExpr position) {
  auto alone = [&] {
    return loadElement(builder, loc, buffer, space->materialize(builder, loc, position));
  };
  if (!side || !side->loop || builder.getInsertionBlock() != side->loop.getBody())
    return alone();
  std::optional<int64_t> stride = IndexSpace::strideIn(position, side->lane);
  if (!stride || *stride > 1 || *stride < 0)
    return alone();
  AffineExpr first = *stride ? space->simplify(position - side->lane) : position;
  if (!space->isOutside(first, side->loop.getRegion()) ||
      (*stride && !(first.isMultipleOf(side->count) && holdsWhole(buffer, side->count))))
    return alone();
  Value &known = side->vectors[{buffer.pointer, position}];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(side->loop);
    Value at = space->materialize(builder, loc, first);
    if (*stride) {
      Type stored = storedType(buffer.element);
      Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
      Value address =
          LLVM::GEPOp::create(builder, loc, buffer.pointer.getType(), stored, buffer.pointer,
                              ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
      known =
          LLVM::LoadOp::create(builder, loc, VectorType::get({side->count}, stored), address, 1);
    } else {
      known = loadElement(builder, loc, buffer, at);
    }
  }
  if (!*stride)
    return known;
  Value element =
      vector::ExtractOp::create(builder, loc, known, OpFoldResult(side->loop.getInductionVar()));
  if (!buffer.element.isInteger(1))
    return element;
  Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element, zero);
}

SmallVector<Value> Emission::lanes(int64_t count, AffineExpr base, ValueRange accumulators,
                                   ValueRange vectors, LaneBody body) {
  if (count == 1)
    return body(base, accumulators, vectors);
  SmallVector<Value> initial(accumulators);
  llvm::append_range(initial, vectors);
  scf::ForOp loop = this->loop(index(0), index(count), index(1), initial);
  AffineExpr &lane = laneSymbols[count];
  if (lane)
    space->rebind(lane, loop.getInductionVar());
  else
    lane = space->declare(loop.getInductionVar(), count);
  side.emplace();
  side->lane = lane, side->count = count, side->loop = loop;
  OpFoldResult at(loop.getInductionVar());
  auto arguments = loop.getRegionIterArgs();
  SmallVector<Value> ofLane;
  for (Value vector : arguments.drop_front(accumulators.size()))
    ofLane.push_back(vector::ExtractOp::create(builder, loc, vector, at));
  SmallVector<Value> next =
      body(space->simplify(base + lane), arguments.take_front(accumulators.size()), ofLane);
  for (size_t i = accumulators.size(); i < next.size(); ++i)
    next[i] = vector::InsertOp::create(builder, loc, next[i], arguments[i], at);
  scf::YieldOp::create(builder, loc, next);
  Lanes built = std::move(*side);
  side.reset();
  if (built.stores.empty()) {
    loop->setAttr(unrollName, builder.getUnitAttr());
    builder.setInsertionPointAfter(loop);
    return SmallVector<Value>(loop.getResults());
  }

  builder.setInsertionPoint(loop);
  SmallVector<Value> unset;
  for (const Lanes::Store &store : built.stores)
    unset.push_back(ub::PoisonOp::create(
        builder, loc, VectorType::get({count}, storedType(store.scalar.getType()))));
  IRRewriter rewriter(builder);
  auto inserted = [&](OpBuilder &inner, Location, ArrayRef<BlockArgument> vectors) {
    SmallVector<Value> values;
    for (auto [store, vector] : llvm::zip_equal(built.stores, vectors)) {
      Value scalar = store.scalar;
      if (scalar.getType().isInteger(1))
        scalar = arith::ExtUIOp::create(inner, loc, inner.getI8Type(), scalar);
      values.push_back(vector::InsertOp::create(
          inner, loc, scalar, vector,
          OpFoldResult(cast<scf::ForOp>(vector.getOwner()->getParentOp()).getInductionVar())));
    }
    return values;
  };
  auto replaced = cast<scf::ForOp>(**loop.replaceWithAdditionalYields(
      rewriter, unset, /*replaceInitOperandUsesInLoop=*/false, inserted));
  replaced->setAttr(unrollName, builder.getUnitAttr());
  space->rebind(lane, replaced.getInductionVar());
  builder.setInsertionPointAfter(replaced);
  size_t carried = initial.size();
  for (auto [i, store] : llvm::enumerate(built.stores)) {
    storeVector(result(store.result), space->simplify(base), replaced.getResult(carried + i));
  }
  return SmallVector<Value>(replaced.getResults().take_front(carried));
}

Value Emission::reduce(StringRef among, Reduction kind, Value value, int64_t shared) {
  std::string name = "weir_" + among.str() + "_" + stringifyReduction(kind).str() + "<" +
                     std::to_string(threads) + ">";
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto declared = func::FuncOp::create(builder, loc, name,
                                         builder.getFunctionType(value.getType(), value.getType()));
    declared.setPrivate();
  }
  plan.launches.back().shared = std::max(plan.launches.back().shared, shared);
  return func::CallOp::create(builder, loc, name, value.getType(), value).getResult(0);
}

Value Emission::blockReduce(Reduction kind, Value value) {
  return reduce("block", kind, value, threads > 32 ? blockReductionBytes : 0);
}

Value Emission::warpsReduce(Reduction kind, Value value) {
  return reduce("warps", kind, value, 4 * threads);
}

void Emission::storeVector(const Buffer &buffer, AffineExpr position, Value vector) {
  Value at = space->materialize(builder, loc, position);
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return storeElement(builder, loc, buffer, at, vector);
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
  Value address = LLVM::GEPOp::create(builder, loc, buffer.pointer.getType(), type.getElementType(),
                                      buffer.pointer, ArrayRef<LLVM::GEPArg>{offset},
                                      LLVM::GEPNoWrapFlags::inbounds);
  LLVM::StoreOp::create(builder, loc, vector, address, 1);
}

int64_t Emission::lanesFor(int64_t size) {
  int64_t most = 0, widest = 1;
  for (Type type : llvm::concat<const Type>(kernel->getOperandTypes(), kernel->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    int64_t bytes = storedBytes(scalarType(tensor.getElementType()));
    if (tensor.getNumElements() >= most)
      widest = std::max(tensor.getNumElements() > most ? 1 : widest, bytes);
    most = std::max(most, tensor.getNumElements());
  }
  int64_t lanes = accessBytes / widest;
  while (size % lanes)
    lanes /= 2;
  return lanes;
}

void Emission::storeResult(unsigned index, AffineExpr position, Value scalar, bool alone) {
  position = space->simplify(position);
  if (alone)
    places.store(index, position, elements->phase, functions.size());
  // A lane of neighbours is stored with them.
  if (side && builder.getInsertionBlock() == side->loop.getBody() &&
      IndexSpace::strideIn(position, side->lane) == 1) {
    side->stores.push_back({index, scalar});
    return;
  }
  storeElement(builder, loc, result(index), space->materialize(builder, loc, position), scalar);
}

} // namespace weir::gpu
