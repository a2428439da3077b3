//===- InPlace.cpp - Results in the place of inputs ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/InPlace.h"
#include "ir/weir/kernel/Kernel.h"

using namespace mlir;

namespace weir {

void InPlace::discard(size_t function) {
  auto isOf = [&](const Access &access) { return access.function == function; };
  llvm::erase_if(loads, isOf);
  llvm::erase_if(stores, isOf);
}

SmallVector<std::pair<unsigned, unsigned>> InPlace::find(KernelOp kernel) const {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (unsigned result = 0; result < kernel.getNumResults(); ++result) {
    SmallVector<Access> own;
    llvm::copy_if(stores, std::back_inserter(own),
                  [&](const Access &store) { return store.number == result; });
    if (own.size() != 1)
      continue;
    for (unsigned input = 0; input < kernel.getNumOperands(); ++input) {
      if (kernel.getOperand(input).getType() != kernel.getResult(result).getType())
        continue;
      bool read = false, safe = true;
      for (const Access &load : loads) {
        if (load.number != input || load.function < own[0].function)
          continue;
        read = true;
        safe &= load.function == own[0].function && load.phase <= own[0].phase &&
                load.position == own[0].position;
      }
      if (read && safe)
        pairs.push_back({result, input});
    }
  }
  return pairs;
}

} // namespace weir
