//===- Families.cpp - Kernels that share their code -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Families.h"

#include "ir/weir/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weir {

/// The lower half of a key, or the higher.
static int32_t halfOf(int64_t key, bool higher) {
  return int32_t(uint32_t(uint64_t(key) >> (higher ? 32 : 0)));
}

void takeKeys(func::FuncOp function, const KernelFamily &family) {
  SmallVector<arith::ConstantOp> words;
  function.walk([&](arith::ConstantOp constant) {
    if (constant->hasAttr(randomKeyWordName))
      words.push_back(constant);
  });
  ArrayRef<int64_t> keys = family.members.front().keys;
  unsigned before = function.getNumArguments();
  Type word = IntegerType::get(function.getContext(), 32);
  if (family.isShared())
    for (size_t i = 0; i < 2 * keys.size(); ++i)
      (void)function.insertArgument(before + i, word, {}, function.getLoc());
  for (arith::ConstantOp constant : words) {
    auto place = constant->getAttrOfType<DenseI64ArrayAttr>(randomKeyWordName);
    if (family.isShared()) {
      constant.replaceAllUsesWith(
          Value(function.getArgument(before + 2 * unsigned(place[0]) + unsigned(place[1]))));
      constant.erase();
    } else {
      constant.setValueAttr(IntegerAttr::get(word, halfOf(keys[place[0]], place[1])));
      constant->removeAttr(randomKeyWordName);
    }
  }
}

void addMembers(ModuleOp lowered, const KernelFamily &family) {
  OpBuilder builder(lowered.getContext());
  Type word = builder.getI32Type();
  for (const LaunchPlan &launch : family.launches) {
    auto shared = lowered.lookupSymbol<LLVM::LLVMFuncOp>(family.symbol() + launch.suffix);
    shared.setLinkage(LLVM::Linkage::Internal);
    shared.setNoInline(true);
    ArrayRef<Type> all = shared.getFunctionType().getParams();
    auto type = LLVM::LLVMFunctionType::get(shared.getFunctionType().getReturnType(),
                                            all.drop_back(2 * family.members.front().keys.size()));
    builder.setInsertionPointAfter(shared);
    for (const KernelFamily::Member &member : family.members) {
      OpBuilder::InsertionGuard guard(builder);
      auto function =
          LLVM::LLVMFuncOp::create(builder, shared.getLoc(), member.symbol + launch.suffix, type);
      builder.setInsertionPointToStart(function.addEntryBlock(builder));
      SmallVector<Value> arguments(function.getArguments());
      for (int64_t key : member.keys)
        for (bool higher : {false, true})
          arguments.push_back(LLVM::ConstantOp::create(
              builder, shared.getLoc(), word, builder.getI32IntegerAttr(halfOf(key, higher))));
      LLVM::CallOp::create(builder, shared.getLoc(), shared, arguments);
      LLVM::ReturnOp::create(builder, shared.getLoc(), ValueRange{});
    }
  }
}

} // namespace weir
