//===- Product.cpp - Kernels that multiply in tiles -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Product.h"

#include "codegen/kernel/ProductSpec.h"

using namespace mlir;

namespace weir::gpu {

/// Places are numbers of 32 bits, with some room behind the end.
constexpr int64_t mostElements = 1 << 30;

std::string productDeclines(Operation *root) {
  for (Value value : llvm::concat<const Value>(root->getOperands(), root->getResults()))
    if (tensorType(value).getNumElements() > mostElements)
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

namespace {

/// How C is shared out. As weir_fma and weir_mma.
struct Tiling {
  int64_t rows, columns;
  bool tensorCores;
  int64_t splits = 1;

  /// Of threads or of warps.
  int64_t ownRows() const {
    if (tensorCores)
      return std::min<int64_t>(rows, rows * columns >= 8192 ? 64 : 32);
    return rows >= 64 ? 8 : 4;
  }
  int64_t ownColumns() const {
    if (tensorCores)
      return columns * (rows / ownRows()) / (rows * columns >= 16384 ? 8 : 4);
    return std::clamp<int64_t>(rows * columns / (ownRows() * 128), 4, 8);
  }
  int64_t threads() const {
    int64_t owners = rows / ownRows() * (columns / ownColumns());
    return tensorCores ? owners * 32 : owners;
  }
  int64_t depth() const { return tensorCores ? 32 : 16; }
  int64_t blocks(const TiledProduct &product) const {
    return product.batches * splits * llvm::divideCeil(product.rows, rows) *
           llvm::divideCeil(product.columns, columns);
  }
  /// Two tiles of each side.
  int64_t sharedBytes(const TiledProduct &product) const {
    auto elements = [&](int64_t lines, bool alongK) {
      if (!tensorCores)
        return depth() * (lines + 4);
      return alongK ? lines * (depth() + 8) : depth() * (lines + 8);
    };
    return 2 * (tensorCores ? 2 : 4) *
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

/// Bytes of partial sums that are worth more blocks, and what a block should at least sum up.
constexpr int64_t mostPartialBytes = 64 << 20, leastOfSplit = 256;

/// The largest tiles that leave every multiprocessor a block; where none do, k is split.
static Tiling tilingFor(const TiledProduct &product, const Architecture &architecture) {
  Tiling tiling{128, 128, !product.factor.isF32()};
  while (tiling.rows / 2 >= product.rows && tiling.rows > 16)
    tiling.rows /= 2;
  if (product.columns <= 64)
    tiling.columns = 64;
  int64_t wanted = architecture.multiprocessors;
  if (tiling.blocks(product) < wanted)
    tiling.columns = 64;
  if (tiling.blocks(product) < wanted && tiling.rows > 64)
    tiling.rows = 64;
  int64_t blocks = tiling.blocks(product);
  int64_t bytes = product.batches * product.rows * product.columns * 4;
  int64_t splits =
      std::min({2 * wanted / blocks, product.ks / leastOfSplit, mostPartialBytes / bytes});
  if (splits > 1) {
    // None without a step.
    int64_t steps = llvm::divideCeil(product.ks, tiling.depth());
    tiling.splits = llvm::divideCeil(steps, llvm::divideCeil(steps, splits));
  }
  return tiling;
}

void writeProduct(Emission &e, const TiledProduct &product) {
  Tiling tiling = tilingFor(product, e.architecture);
  e.text.headers.push_back("weir_product.h");
  std::string sides = product.a.text("a") + product.b.text("b");
  std::string sink = product.sink.text("sink") + product.finish;
  std::string result = product.finish.empty() ? "sink" : "result";
  auto multiply = [&](StringRef to) {
    return "  weir_multiply<" + tiling.text(product) + ", " +
           arguments({product.rows, product.columns, product.ks, tiling.splits}) + ">(a, b, " +
           to.str() + ");\n";
  };
  int64_t shared = tiling.sharedBytes(product), blocks = tiling.blocks(product);
  if (tiling.splits == 1)
    return e.write("", blocks, tiling.threads(), shared, sides + sink + multiply(result));

  int64_t elements = product.batches * product.rows * product.columns;
  e.plan.workspace = tiling.splits * elements * 4;
  std::string partial =
      "  weir_matrix_sink<weir_f32, " +
      arguments({product.rows, product.columns,
                 vectorOf(product.columns, e.builder.getF32Type(), e.builder.getF32Type())}) +
      "> partial{reinterpret_cast<float *>(workspace)};\n";
  e.write("", blocks, tiling.threads(), shared, sides + partial + multiply("partial"));
  int64_t together = std::min<int64_t>(product.sinkVector, 4);
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
  Type ofA = elementAt(matmul.getLhs()), ofB = elementAt(matmul.getRhs());
  TiledProduct product;
  product.batches = spec.batch;
  product.rows = spec.m;
  product.columns = spec.n;
  product.ks = spec.k;
  product.factor = factorOf(ofA, ofB);
  auto side = [&](Value buffer, Type element, int64_t lines, int64_t lineStride, int64_t kStride,
                  int64_t batchStride) {
    bool alongK = kStride == 1;
    int64_t vector = vectorOf(alongK ? spec.k : lines, element, product.factor);
    return ProductTensor{"weir_matrix<" + e.elementName(element) + ", " +
                             arguments({lines, spec.k, lineStride, kStride, batchStride, vector}) +
                             ">",
                         inputName(buffer), alongK};
  };
  product.a = side(call->buffers[0], ofA, spec.m, spec.aRow, spec.aColumn, spec.aBatch);
  product.b = side(call->buffers[1], ofB, spec.n, spec.bColumn, spec.bRow, spec.bBatch);
  Type result = elementAt(e.kernel.getResult(0));
  product.sinkVector = vectorOf(spec.n, result, result);
  product.sink = {"weir_matrix_sink<" + e.elementName(result) + ", " +
                      arguments({spec.m, spec.n, product.sinkVector}) + ">",
                  "out0"};
  if (spec.bias) {
    Value bias = call->buffers[3];
    product.finish = "  weir_biased_sink<decltype(sink), " + e.elementName(elementAt(bias)) + ", " +
                     (spec.relu ? "true" : "false") + "> result(sink, " + inputName(bias) + ");\n";
  }
  writeProduct(e, product);
  return success();
}

} // namespace weir::gpu
