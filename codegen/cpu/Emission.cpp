//===- Emission.cpp - One kernel on its way to code -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"

#include "codegen/kernel/Families.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weir {

Emission::Emission(KernelOp kernel, StringRef symbol, const Processor &processor, ModuleOp module)
    : kernel(kernel), symbol(symbol), processor(processor), builder(kernel.getContext()),
      loc(kernel.getLoc()), module(module) {}

void Emission::open(StringRef suffix, int64_t tasks) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  builder.setInsertionPointToEnd(module.getBody());
  auto type = builder.getFunctionType({pointer, i64, i64, pointer}, {});
  function = func::FuncOp::create(builder, loc, symbol + suffix.str(), type);
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  operands = entry->getArgument(0);
  lo = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry->getArgument(1));
  hi = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry->getArgument(2));
  scratch = entry->getArgument(3);
  plan.launches.push_back({suffix.str(), tasks});
  ++functions;

  space = std::make_unique<IndexSpace>(context);
  elements = std::make_unique<Elements>(builder, *space, loc);
  elements->phase = ++phase;
  pointers.clear();
  size_t count = kernel.getNumOperands() + kernel.getNumResults() + 1;
  for (size_t i = 0; i < count; ++i)
    pointers.push_back(operandPointer(i));
  for (auto [i, argument] : llvm::enumerate(body().getArguments()))
    elements->place(argument,
                    Buffer{pointers[i], scalarType(tensorType(argument).getElementType()), int(i)});
}

Value Emission::operandPointer(unsigned index) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot =
      LLVM::GEPOp::create(builder, loc, pointer, pointer, operands,
                          ArrayRef<LLVM::GEPArg>{int32_t(index)}, LLVM::GEPNoWrapFlags::inbounds);
  auto load = LLVM::LoadOp::create(builder, loc, pointer, slot, 8);
  load->setAttr(constantLoadName, builder.getUnitAttr());
  return load;
}

void Emission::close() {
  for (const Elements::Load &load : elements->loads)
    places.load(load.input, load.position, load.phase, functions);
  phase = elements->phase;
  func::ReturnOp::create(builder, loc);
  // The workspace's pointer is read in every function, and dead in most.
  for (Value pointer : pointers)
    if (pointer.use_empty())
      pointer.getDefiningOp()->erase();
  pointers.clear();
}

void Emission::discard() {
  elements.reset();
  function.erase();
  plan.launches.pop_back();
  places.discard(functions);
}

Buffer Emission::result(unsigned index) {
  return {pointers[kernel.getNumOperands() + index],
          scalarType(tensorType(kernel.getResult(index)).getElementType()), -1};
}

Value Emission::pointerAt(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  // A constant of the op itself has 29 bits.
  LLVM::GEPArg offset =
      llvm::isInt<29>(bytes)
          ? LLVM::GEPArg(int32_t(bytes))
          : LLVM::GEPArg(Value(arith::ConstantIntOp::create(builder, loc, bytes, 64)));
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, offset,
                             LLVM::GEPNoWrapFlags::inbounds);
}

Buffer Emission::workspace(Type element, int64_t offset) {
  return {pointerAt(pointers.back(), offset), element, -1};
}

Value Emission::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

scf::ForOp Emission::loop(Value low, Value high, ValueRange accumulators, int64_t step) {
  auto loop = scf::ForOp::create(builder, loc, low, high, index(step), accumulators);
  loop->setAttr(nonemptyName, builder.getUnitAttr());
  if (accumulators.empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

void Emission::done(scf::ForOp loop, ValueRange accumulators) {
  scf::YieldOp::create(builder, loc, accumulators);
  builder.setInsertionPointAfter(loop);
}

std::pair<Value, Value> Emission::range(Value lo, Value hi, int64_t grain, int64_t size) {
  Value begin = arith::MulIOp::create(builder, loc, lo, index(grain));
  Value end = arith::MulIOp::create(builder, loc, hi, index(grain));
  return {begin, arith::MinSIOp::create(builder, loc, end, index(size))};
}

void Emission::storeResult(unsigned index, AffineExpr position, Value scalar) {
  places.store(index, position, elements->phase, functions);
  storeElement(builder, loc, result(index), space->materialize(builder, loc, position), scalar);
}

void Emission::findInPlace() { plan.inPlace = places.find(kernel); }

double estimatedTime(KernelOp kernel) {
  double time = machines::cachedByte * double(trafficBytes(kernel));
  for (Operation &op : kernel.getBody().front())
    if (auto costed = dyn_cast<Costed>(op)) {
      // An elementary function is one operation to Costed.
      auto pointwise = dyn_cast<Pointwise>(op);
      double weight = pointwise ? double(pointwise.weight()) : 1;
      time += machines::cachedOperation * weight * costed.cost().flops;
    }
  return time;
}

} // namespace weir
