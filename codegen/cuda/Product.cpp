//===- Product.cpp - Kernels that multiply in tiles -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Product.h"
#include "ir/weir/product/Product.h"

#include "codegen/kernel/ProductSpec.h"

using namespace mlir;

namespace weir::gpu {

/// Places are numbers of 32 bits, with some room behind the end.
constexpr int64_t mostIndexed = 1 << 30;

std::string productDeclines(Operation *root) {
  for (Value value : llvm::concat<const Value>(root->getOperands(), root->getResults()))
    if (tensorType(value).getNumElements() > mostIndexed)
      return "tensors of more than 2^30 elements";
  return "";
}

Type factorOf(Type a, Type b) {
  return a == b && (a.isBF16() || a.isF16()) ? a : Type(Float32Type::get(a.getContext()));
}

int64_t vectorOf(int64_t together, Type stored, Type factor) {
  int64_t vector = accessBytes / std::max(storedBytes(stored), storedBytes(factor));
  while (together % vector)
    vector /= 2;
  return vector;
}

std::string arguments(ArrayRef<int64_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t number) { return std::to_string(number); }),
                    ", ");
}

std::string inputName(Value argument) {
  return "in" + std::to_string(cast<BlockArgument>(argument).getArgNumber());
}

ProductTensor matrixSide(Emission &e, Value buffer, Type factor, int64_t lines, int64_t ks,
                         int64_t lineStride, int64_t kStride, int64_t batchStride) {
  Type element = tensorType(buffer).getElementType();
  bool alongK = kStride == 1;
  int64_t vector = vectorOf(alongK ? ks : lines, element, factor);
  return {"weir_matrix<" + e.elementName(element) + ", " +
              arguments({lines, ks, lineStride, kStride, batchStride, vector}) + ">",
          inputName(buffer), element, vector, alongK};
}

ProductTensor matrixSink(Emission &e, std::string buffer, Type element, int64_t rows,
                         int64_t columns) {
  int64_t vector = vectorOf(columns, element, element);
  return {"weir_matrix_sink<" + e.elementName(element) + ", " + arguments({rows, columns, vector}) +
              ">",
          std::move(buffer), element, vector};
}

namespace {

/// How C is shared out. As weir_fma and weir_mma.
struct Tiling {
  int64_t rows, columns;
  bool tensorCores;
  int64_t stages; ///< tiles of a side in shared memory
  /// What takes many registers is shared by more warps.
  bool manyWarps;
  int64_t splits = 1;

  int64_t warps() const { return manyWarps && rows * columns >= 8192 ? 8 : 4; }
  /// Of threads or of warps.
  int64_t ownRows() const {
    if (tensorCores)
      return std::min<int64_t>(rows, rows * columns / warps() >= 2048 ? 64 : 32);
    return rows >= 64 ? 8 : 4;
  }
  int64_t ownColumns() const {
    if (tensorCores)
      return rows * columns / warps() / ownRows();
    return std::clamp<int64_t>(rows * columns / (ownRows() * 128), 4, 8);
  }
  int64_t threads() const {
    return tensorCores ? warps() * 32 : rows / ownRows() * (columns / ownColumns());
  }
  int64_t depth() const { return tensorCores ? 32 : 16; }
  int64_t steps(const TiledProduct &product) const { return llvm::divideCeil(product.ks, depth()); }
  int64_t blocks(const TiledProduct &product) const {
    return product.batches * splits * llvm::divideCeil(product.rows, rows) *
           llvm::divideCeil(product.columns, columns);
  }
  int64_t sharedBytes(const TiledProduct &product) const {
    auto elements = [&](int64_t lines, bool alongK) {
      if (!tensorCores)
        return depth() * (lines + 4);
      return alongK ? lines * depth() : depth() * (lines + 8);
    };
    return stages * (tensorCores ? 2 : 4) *
           (elements(rows, product.a.alongK) + elements(columns, product.b.alongK));
  }
  std::string text(const TiledProduct &product) const {
    std::string name = "weir_fma<";
    if (tensorCores)
      name = std::string("weir_mma<weir_") + (product.factor.isBF16() ? "bf16, " : "f16, ");
    return name + arguments({rows, columns, ownRows(), ownColumns()}) + ">";
  }
};

} // namespace

/// Whether a side is copied asynchronously, as weir_tile_copy decides.
static bool isAsynchronous(const TiledProduct &product, const ProductTensor &side) {
  return side.element == product.factor && side.vector * storedBytes(side.element) == accessBytes &&
         !(product.factor.isF32() && side.alongK);
}

/// Bytes of partial sums that are worth more blocks, and what a block should at least sum up: in
/// steps, where there are too few blocks; of k, where smaller tiles would make as many.
constexpr int64_t mostPartialBytes = 64 << 20, leastSteps = 16, leastOfLarge = 1024;

/// Of what tuning tries; the rule may find more.
constexpr int64_t mostSplits = 32;

/// The largest tiles that leave every multiprocessor a block, or would if a large k was split;
/// where none do, k is split. What goes through registers is one step ahead, and needs more warps.
static Tiling tilingFor(Emission &e, const TiledProduct &product) {
  bool asynchronous = isAsynchronous(product, product.a) && isAsynchronous(product, product.b);
  Tiling tiling{128, 128, !product.factor.isF32(), asynchronous ? 4 : 2,
                !asynchronous || product.ofPlaces};
  while (tiling.rows / 2 >= product.rows && tiling.rows > 16)
    tiling.rows /= 2;
  if (product.columns <= 64)
    tiling.columns = 64;
  int64_t bytes = product.batches * product.rows * product.columns * 4;
  int64_t wanted = e.architecture.multiprocessors, most = mostPartialBytes / bytes;
  auto areFew = [&] {
    return tiling.blocks(product) *
               std::max<int64_t>(1, std::min(most, product.ks / leastOfLarge)) <
           wanted;
  };
  if (areFew())
    tiling.columns = 64;
  if (areFew() && tiling.rows > 64)
    tiling.rows = 64;
  tiling.rows = e.choose("rows", tiling.rows, {16, 32, 64, 128});
  tiling.columns = e.choose("columns", tiling.columns, {64, 128});
  int64_t steps = tiling.steps(product);
  // None without a step.
  auto whole = [&](int64_t splits) {
    return splits > 1 ? llvm::divideCeil(steps, llvm::divideCeil(steps, splits)) : 1;
  };
  SmallVector<int64_t> options = {1};
  for (int64_t splits = 2; splits <= std::min(steps, most); splits *= 2)
    if (int64_t count = whole(splits); count <= mostSplits && count != options.back())
      options.push_back(count);
  int64_t splits = std::min({2 * wanted / tiling.blocks(product), steps / leastSteps, most});
  tiling.splits = e.choose("splits", whole(splits), options);
  return tiling;
}

void writeProduct(Emission &e, const TiledProduct &product) {
  Tiling tiling = tilingFor(e, product);
  e.text.headers.push_back("weir_product.h");
  std::string sides = product.a.text("a") + product.b.text("b");
  std::string sink = product.sink.text("sink") + product.finish;
  std::string result = product.finish.empty() ? "sink" : "result";
  auto multiply = [&](StringRef to) {
    return "  weir_multiply<" + tiling.text(product) + ", " +
           arguments({product.rows, product.columns, product.ks, tiling.splits, tiling.stages}) +
           ">(a, b, " + to.str() + ");\n";
  };
  int64_t shared = tiling.sharedBytes(product), blocks = tiling.blocks(product);
  if (tiling.splits == 1)
    return e.write("", blocks, tiling.threads(), shared, sides + sink + multiply(result));

  int64_t elements = product.batches * product.rows * product.columns;
  e.plan.workspace = tiling.splits * elements * 4;
  std::string partial = matrixSink(e, "reinterpret_cast<float *>(workspace)",
                                   e.builder.getF32Type(), product.rows, product.columns)
                            .text("partial");
  e.write("", blocks, tiling.threads(), shared, sides + partial + multiply("partial"));
  int64_t together = std::min<int64_t>(product.sink.vector, 4);
  e.write(
      "_sum", llvm::divideCeil(elements, blockThreads * together), blockThreads, 0,
      sink + "  weir_add_partial_sums<" +
          arguments({blockThreads, product.batches, product.rows, product.columns, tiling.splits}) +
          ">(reinterpret_cast<const float *>(workspace), " + result + ");\n");
}

LogicalResult emitProduct(Emission &e) {
  auto matmul = *e.body().getOps<MatmulOp>().begin();
  CallBuffers buffers{SmallVector<Value>(e.body().getArguments()), e.yielded(0)};
  FailureOr<ProductCall> call = productCall(e.kernel, buffers);
  if (failed(call))
    return failure();
  const spec::Product &spec = call->spec;
  auto elementAt = [](Value value) { return tensorType(value).getElementType(); };
  TiledProduct product;
  product.batches = spec.batch;
  product.rows = spec.m;
  product.columns = spec.n;
  product.ks = spec.k;
  product.factor = factorOf(elementAt(matmul.getLhs()), elementAt(matmul.getRhs()));
  product.a = matrixSide(e, call->buffers[0], product.factor, spec.m, spec.k, spec.aRow,
                         spec.aColumn, spec.aBatch);
  product.b = matrixSide(e, call->buffers[1], product.factor, spec.n, spec.k, spec.bColumn,
                         spec.bRow, spec.bBatch);
  Type result = elementAt(e.kernel.getResult(0));
  product.sink = matrixSink(e, "out0", result, spec.m, spec.n);
  if (spec.bias) {
    Value bias = call->buffers[3];
    product.finish = "  weir_biased_sink<decltype(sink), " + e.elementName(elementAt(bias)) + ", " +
                     (spec.relu ? "true" : "false") + "> result(sink, " + inputName(bias) + ");\n";
  }
  writeProduct(e, product);
  return success();
}

} // namespace weir::gpu
