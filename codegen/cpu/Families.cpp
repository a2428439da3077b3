//===- Families.cpp - Kernels that share their code -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Families.h"

#include "ir/weir/Elements.h"
#include "ir/weir/KernelStructure.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weir {

std::vector<KernelFamily> familiesOf(ArrayRef<NamedKernel> kernels) {
  std::vector<KernelFamily> families;
  std::vector<OwningOpRef<KernelOp>> copies;
  llvm::DenseMap<Operation *, size_t, KernelStructure> known;
  for (const NamedKernel &kernel : kernels) {
    copies.push_back(withPlacesAsKeys(kernel.op));
    auto [at, isNew] = known.try_emplace(*copies.back(), families.size());
    if (isNew)
      families.push_back({kernel.op, {}});
    families[at->second].members.push_back({kernel.symbol, randomKeys(kernel.op)});
  }
  return families;
}

void takeKeys(func::FuncOp function, size_t keys) {
  SmallVector<arith::ConstantOp> words;
  function.walk([&](arith::ConstantOp constant) {
    if (constant->hasAttr(randomKeyWordName))
      words.push_back(constant);
  });
  if (keys == 0) {
    for (arith::ConstantOp word : words)
      word->removeAttr(randomKeyWordName);
    return;
  }
  unsigned before = function.getNumArguments();
  Type word = IntegerType::get(function.getContext(), 32);
  for (size_t i = 0; i < 2 * keys; ++i)
    (void)function.insertArgument(before + i, word, {}, function.getLoc());
  for (arith::ConstantOp constant : words) {
    auto place = constant->getAttrOfType<DenseI64ArrayAttr>(randomKeyWordName);
    constant.replaceAllUsesWith(
        Value(function.getArgument(before + 2 * unsigned(place[0]) + unsigned(place[1]))));
    constant.erase();
  }
}

void addMembers(ModuleOp lowered, const KernelFamily &family, ArrayRef<LaunchPlan> launches) {
  OpBuilder builder(lowered.getContext());
  Type word = builder.getI32Type();
  for (const LaunchPlan &launch : launches) {
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
        for (uint64_t half : {uint64_t(key), uint64_t(key) >> 32})
          arguments.push_back(LLVM::ConstantOp::create(
              builder, shared.getLoc(), word, builder.getI32IntegerAttr(int32_t(uint32_t(half)))));
      LLVM::CallOp::create(builder, shared.getLoc(), shared, arguments);
      LLVM::ReturnOp::create(builder, shared.getLoc(), ValueRange{});
    }
  }
}

} // namespace weir
