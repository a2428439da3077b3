//===- Members.cpp - Kernels that call shared code ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"
#include "codegen/kernel/Families.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weir {

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
              builder, shared.getLoc(), word, builder.getI32IntegerAttr(keyWord(key, higher))));
      LLVM::CallOp::create(builder, shared.getLoc(), shared, arguments);
      LLVM::ReturnOp::create(builder, shared.getLoc(), ValueRange{});
    }
  }
}

} // namespace weir
