//===- Transpose.cpp - Kernels that only turn matrices over ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map kernel computes its results in order. Where neighbours of the result are far apart in what
// it reads, each access would bring one element of the 32 bytes that memory gives.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"
#include "codegen/cuda/Product.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/structure/Structure.h"

#include <numeric>

using namespace mlir;

namespace weir::gpu {
namespace {

/// Elements that are `stride` apart.
struct Way {
  int64_t size, stride;
};
typedef SmallVector<Way> Ways;

/// Takes the innermost `size` elements of the ways. None where they cannot be cut there.
std::optional<Ways> takeInner(Ways &ways, int64_t size) {
  Ways inner;
  while (size > 1) {
    if (ways.empty())
      return std::nullopt;
    Way &last = ways.back();
    if (size % last.size == 0) {
      inner.insert(inner.begin(), last);
      size /= last.size;
      ways.pop_back();
    } else if (last.size % size == 0) {
      inner.insert(inner.begin(), {size, last.stride});
      last = {last.size / size, last.stride * size};
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return inner;
}

/// By dimension of what a view moves: how its elements are reached from those of what it reads.
std::optional<SmallVector<Ways>> behind(Operation *view, ArrayRef<Ways> before) {
  SmallVector<Ways> after;
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    for (int64_t from : transpose.getPermutation())
      after.push_back(before[from]);
    return after;
  }
  if (!isa<SplitDimOp, MergeDimsOp>(view))
    return std::nullopt;
  Ways all;
  for (const Ways &ways : before)
    llvm::append_range(all, ways);
  for (int64_t size : llvm::reverse(shapeOf(view->getResult(0)))) {
    std::optional<Ways> inner = takeInner(all, size);
    if (!inner)
      return std::nullopt;
    after.insert(after.begin(), *inner);
  }
  return after;
}

/// In the order of the result, neighbours together that are so in what is read.
std::optional<Ways> waysOf(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  if (body.getNumArguments() != 1 || kernel.getNumResults() != 1)
    return std::nullopt;
  Value value = body.getArgument(0);
  SmallVector<Ways> dimensions;
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(shapeOf(value))) {
    dimensions.insert(dimensions.begin(), size == 1 ? Ways() : Ways{{size, stride}});
    stride *= size;
  }
  for (Operation &op : body.without_terminator()) {
    if (op.getNumOperands() != 1 || op.getOperand(0) != value)
      return std::nullopt;
    std::optional<SmallVector<Ways>> moved = behind(&op, dimensions);
    if (!moved)
      return std::nullopt;
    dimensions = *moved;
    value = op.getResult(0);
  }
  if (body.getTerminator()->getOperand(0) != value)
    return std::nullopt;
  Ways together;
  for (const Ways &ways : dimensions)
    for (Way way : ways)
      if (!together.empty() && together.back().stride == way.size * way.stride)
        together.back() = {together.back().size * way.size, way.stride};
      else
        together.push_back(way);
  return together;
}

/// What is worth a tile.
constexpr int64_t leastSize = 16;

/// The way that is the innermost one in what is read; none where it is in the result too.
Way *innermostRead(Ways &ways) {
  Way *found = llvm::find_if(ways, [](Way way) { return way.stride == 1; });
  bool turns = found != ways.end() && found != &ways.back() && found->size >= leastSize &&
               ways.back().size >= leastSize;
  return turns ? found : nullptr;
}

} // namespace

bool turnsOver(KernelOp kernel) {
  std::optional<Ways> ways = waysOf(kernel);
  return ways && innermostRead(*ways) &&
         storedBytes(tensorType(kernel.getResult(0)).getElementType()) <= 4;
}

LogicalResult emitTranspose(Emission &e) {
  Ways ways = *waysOf(e.kernel);
  Way *column = innermostRead(ways), *row = &ways.back();
  int64_t bytes = storedBytes(tensorType(e.kernel.getResult(0)).getElementType());
  int64_t most = accessBytes / bytes;
  int64_t fromVector = std::gcd(most, column->size), toVector = std::gcd(most, row->size);
  constexpr int64_t tile = 64;
  int64_t tiles = llvm::divideCeil(row->size, tile) * llvm::divideCeil(column->size, tile);

  // The matrices, from the innermost on.
  std::string from = "in0", to = "out0";
  int64_t matrices = 1, stride = row->size, columnStride = 0;
  for (Way &way : llvm::reverse(MutableArrayRef(ways).drop_back())) {
    if (&way == column) {
      columnStride = stride;
    } else {
      std::string at = " + blockIdx.x / " + std::to_string(tiles * matrices) + " % " +
                       std::to_string(way.size) + " * ";
      from += at + std::to_string(way.stride);
      to += at + std::to_string(stride);
      fromVector = std::gcd(fromVector, way.stride);
      matrices *= way.size;
    }
    stride *= way.size;
  }
  fromVector = std::gcd(fromVector, row->stride);
  e.text.headers.push_back("weir_transpose.h");
  e.write("", tiles * matrices, blockThreads, tile * (tile * bytes + 4),
          "  weir_turn_over<" +
              arguments({blockThreads, row->size, column->size, row->stride, columnStride,
                         fromVector, toVector}) +
              ">(blockIdx.x % " + std::to_string(tiles) + ", " + from + ", " + to + ");\n");
  return success();
}

} // namespace weir::gpu
