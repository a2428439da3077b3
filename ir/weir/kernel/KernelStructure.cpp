//===- KernelStructure.cpp - Kernels that compute the same ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/Locations.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reduction/Reduction.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weir {

unsigned KernelStructure::getHashValue(const Operation *op) {
  auto kernel = cast<KernelOp>(const_cast<Operation *>(op));
  llvm::hash_code hash =
      llvm::hash_combine(static_cast<unsigned>(kernel.getShape()), kernel.getDomainAttr());
  llvm::DenseMap<Value, size_t> numbers;
  auto number = [&](Value value) {
    hash = llvm::hash_combine(hash, value.getType());
    numbers.try_emplace(value, numbers.size());
  };
  llvm::for_each(kernel.getBody().getArguments(), number);
  for (Operation &inner : kernel.getBody().front()) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(
                  &inner, [&](Value operand) { return llvm::hash_value(numbers.lookup(operand)); },
                  OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations));
    llvm::for_each(inner.getResults(), number);
  }
  return hash;
}

bool KernelStructure::isEqual(const Operation *a, const Operation *b) {
  if (a == b)
    return true;
  for (const Operation *op : {a, b})
    if (op == getEmptyKey() || op == getTombstoneKey())
      return false;
  auto left = cast<KernelOp>(const_cast<Operation *>(a)),
       right = cast<KernelOp>(const_cast<Operation *>(b));
  return left.getShape() == right.getShape() && left.getDomainAttr() == right.getDomainAttr() &&
         left.getCopies() == right.getCopies() && left.getResultTypes() == right.getResultTypes() &&
         OperationEquivalence::isRegionEquivalentTo(&left.getBody(), &right.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// What a kernel yields for its result; null where the value is none's.
static Value yieldedFor(Value value) {
  auto kernel = value.getDefiningOp<KernelOp>();
  if (!kernel)
    return nullptr;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return kernel.getBody().front().getTerminator()->getOperand(number);
}

StringRef resultLabel(Value value) {
  Operation *maker = value.getDefiningOp();
  if (Value yielded = yieldedFor(value)) {
    maker = beforeViews(yielded).getDefiningOp();
    return maker ? maker->getName().stripDialect() : "copy";
  }
  return maker ? maker->getName().stripDialect() : "input";
}

Location resultLocation(Value value) {
  if (auto unpacked = value.getDefiningOp<UnpackOp>())
    return locationsOfAll(unpacked.getLoc(),
                          unpacked->getNumResults())[cast<OpResult>(value).getResultNumber()];
  Value yielded = yieldedFor(value);
  return (yielded ? yielded : value).getLoc();
}

OwningOpRef<KernelOp> firstCopy(KernelOp kernel) {
  int64_t copies = kernel.getCopies();
  Block &all = kernel.getBody().front();
  OpBuilder builder(kernel.getContext());
  size_t inputs = kernel.getNumOperands() / copies, results = kernel.getNumResults() / copies;
  auto one = KernelOp::create(
      builder, kernel.getLoc(), TypeRange(kernel.getResultTypes()).take_front(results),
      kernel.getShape(), kernel.getDomainAttr(), kernel.getInputs().take_front(inputs));
  Block *body = builder.createBlock(&one.getBody());
  IRMapping mapping;
  for (BlockArgument argument : all.getArguments().take_front(inputs))
    mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  auto ops = all.without_terminator();
  for (Operation &op : llvm::make_range(
           ops.begin(), std::next(ops.begin(), std::distance(ops.begin(), ops.end()) / copies)))
    builder.clone(op, mapping);
  SmallVector<Value> yielded;
  for (Value value : all.getTerminator()->getOperands().take_front(results))
    yielded.push_back(mapping.lookup(value));
  YieldOp::create(builder, kernel.getLoc(), yielded);
  return one;
}

ReducedElements reducedElements(ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes(), shape = shapeOf(op.getInput());
  int64_t count = 1;
  int64_t first = shape.size(), last = -1;
  for (int64_t axis : axes) {
    count *= shape[axis];
    if (shape[axis] > 1) {
      first = std::min(first, axis);
      last = std::max(last, axis);
    }
  }
  ReducedElements result;
  int64_t suffix = 1, prefix = 1;
  for (size_t i = first; i < shape.size(); ++i)
    suffix *= shape[i];
  for (int64_t i = 0; i <= last; ++i)
    prefix *= shape[i];
  if (suffix == count)
    result.trailing = count;
  if (prefix == count)
    result.leading = count;
  return result;
}

bool reducesNothing(ReduceOp op) {
  return tensorType(op.getInput()).getNumElements() == tensorType(op.getResult()).getNumElements();
}

SmallVector<int64_t> randomKeys(KernelOp kernel) {
  llvm::SmallSetVector<int64_t, 4> keys;
  kernel.walk([&](RandomOp random) { keys.insert(random.getKey()); });
  return keys.takeVector();
}

OwningOpRef<KernelOp> withPlacesAsKeys(KernelOp kernel) {
  OwningOpRef<KernelOp> copy(kernel.clone());
  SmallVector<int64_t> keys = randomKeys(kernel);
  copy->walk([&](RandomOp random) {
    random.setKey(llvm::find(keys, int64_t(random.getKey())) - keys.begin());
  });
  return copy;
}

} // namespace weir
