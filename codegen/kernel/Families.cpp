//===- Families.cpp - Kernels that share their code -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Families.h"
#include "ir/weir/structure/Structure.h"

#include "ir/weir/interfaces/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace weir {

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
      constant.setValueAttr(IntegerAttr::get(word, keyWord(keys[place[0]], place[1])));
      constant->removeAttr(randomKeyWordName);
    }
  }
}

} // namespace weir
