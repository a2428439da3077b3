//===- PlanDialect.cpp - The plan dialect ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/plan/PlanAction.cpp.inc"
#include "ir/plan/PlanDialect.cpp.inc"
#include "ir/plan/PlanEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanOps.cpp.inc"
#define GET_OP_CLASSES
#include "ir/plan/PlanTransfers.cpp.inc"

namespace weir::plan {

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/plan/PlanTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/plan/PlanAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/plan/PlanOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/plan/PlanTransfers.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Place placeOf(Value buffer) {
  Place place{nullptr, 0, {}};
  while (auto part = buffer.getDefiningOp<PartOp>()) {
    place.offset += part.getOffset();
    for (auto [index, stride, modulus] :
         llvm::zip(part.getIndices(), part.getStrides(), part.getModuli()))
      place.moves.push_back({index, stride, modulus});
    buffer = part.getBuffer();
  }
  place.memory = buffer.getDefiningOp();
  assert((isa<AllocOp, UseOp>(place.memory)) && "a buffer is memory or part of it");
  return place;
}

static int64_t bytesOf(ModuleOp plan, StringRef name) {
  auto bytes = plan->getAttrOfType<IntegerAttr>(name);
  return bytes ? bytes.getInt() : 0;
}

static int64_t startOf(ModuleOp plan, Space space) {
  if (space != Space::pinned && space != Space::host)
    return 0;
  return bytesOf(plan, arenaAttrName) + (space == Space::host ? bytesOf(plan, pinnedAttrName) : 0);
}

int64_t addressOf(ModuleOp plan, AllocOp buffer) {
  return startOf(plan, buffer.getResult().getType().getSpace()) + *buffer.getOffset();
}

int64_t addressOf(ModuleOp plan, VariableOp variable) {
  return startOf(plan, variable.space()) + *variable.getOffset();
}

int64_t memoryOf(ModuleOp plan) { return startOf(plan, Space::host) + bytesOf(plan, hostAttrName); }

LoopOp loopOf(Value index) {
  return cast<LoopOp>(cast<BlockArgument>(index).getOwner()->getParentOp());
}

uint32_t depthOf(Value index) {
  uint32_t depth = 0;
  for (Operation *around = loopOf(index)->getParentOp(); isa<LoopOp>(around);
       around = around->getParentOp())
    ++depth;
  return depth;
}

KernelOp kernelOf(LaunchOp launch, SymbolTableCollection &symbols) {
  return symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
}

SmallVector<spec::Footprint> footprintsOf(KernelOp kernel) {
  SmallVector<spec::Footprint> list;
  for (auto [i, attribute] : llvm::enumerate(kernel.getTakes())) {
    auto operand = cast<OperandAttr>(attribute);
    list.push_back({"operand " + std::to_string(i),
                    static_cast<spec::Mode>(operand.getMode()),
                    static_cast<uint64_t>(operand.getBytes()),
                    {},
                    false});
  }
  return list;
}

weir::KernelOp KernelOp::meaning() { return *getBody().front().getOps<weir::KernelOp>().begin(); }

static void collect(Block &block, SmallVectorImpl<Action> &actions) {
  for (Operation &op : block)
    if (auto action = dyn_cast<Action>(op)) {
      actions.push_back(action);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          collect(inner, actions);
    }
}

SmallVector<Action> EntryOp::actions() {
  SmallVector<Action> list;
  collect(getBody().front(), list);
  return list;
}

void AllocOp::build(OpBuilder &builder, OperationState &state, int64_t size, StringRef label,
                    Space space) {
  build(builder, state, BufferType::get(builder.getContext(), space),
        builder.getI64IntegerAttr(size), builder.getStringAttr(label), IntegerAttr(), IntegerAttr(),
        IntegerAttr());
}

void UseOp::build(OpBuilder &builder, OperationState &state, VariableOp variable) {
  build(builder, state, BufferType::get(builder.getContext(), variable.space()),
        variable.getSymName());
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void setCode(ModuleOp plan, CodeFormat format, ArrayRef<char> code) {
  OpBuilder builder = OpBuilder::atBlockEnd(plan.getBody());
  auto type = RankedTensorType::get({int64_t(code.size())}, builder.getIntegerType(8, false));
  BlobOp::create(builder, plan.getLoc(),
                 DenseResourceElementsAttr::get(
                     type, "code", HeapAsmResourceBlob::allocateAndCopyWithAlign(code, 16)),
                 format);
}

ArrayRef<char> codeOf(ModuleOp plan) {
  auto blobs = plan.getOps<BlobOp>();
  return blobs.empty() ? ArrayRef<char>() : (*blobs.begin()).code();
}

CodeFormat codeFormatOf(ModuleOp plan) {
  auto blobs = plan.getOps<BlobOp>();
  return blobs.empty() ? CodeFormat::elf : (*blobs.begin()).getFormat();
}

ArrayRef<char> BlobOp::code() {
  auto resource = dyn_cast<DenseResourceElementsAttr>(getBytes());
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

} // namespace weir::plan
