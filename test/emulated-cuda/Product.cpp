//===- Product.cpp - One product of cuBLASLt's, described and done ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Product.h"
#include "test/emulated-cuda/Numbers.h"
#include "test/emulated-cuda/ProductLoop.h"
#include <cstring>
#include <memory>

namespace weir::emulated {

using namespace cuda;

bool isF8(int type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

namespace {

bool areTypesServed(const Product &p) {
  int a = p.a.type, b = p.b.type, d = p.d.type;
  if (p.c.type != d)
    return false;
  if (isF8(a) && isF8(b))
    return (a == CUDA_R_8F_E4M3 || b == CUDA_R_8F_E4M3) &&
           (d == CUDA_R_32F || d == CUDA_R_16BF || d == CUDA_R_16F);
  if (a != b || isF8(a))
    return false;
  return d == CUDA_R_32F || d == a;
}

/// Why factors of eight bits are not multiplied, or others scaled.
std::string refusalOfF8(const Product &p) {
  if (!isF8(p.a.type))
    return p.description.aScale || p.description.bScale
               ? "factors that are scaled are of eight bits"
               : "";
  if (p.description.transA != CUBLAS_OP_T || p.description.transB != CUBLAS_OP_N)
    return "of factors of eight bits A is transposed and B is not";
  for (const Layout *layout : {&p.a, &p.b, &p.d})
    for (uint64_t size : {layout->rows, layout->columns, uint64_t(layout->stride)})
      if (size * elementBytes(layout->type) % alignmentOfF8)
        return "sizes are multiples of 16 bytes where factors are of eight bits";
  // "cuBLAS Library", cublasLtMatmul(): the table of types of such products.
  int bias = p.d.type == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
  if (p.hasBias() && p.biasType() != bias)
    return "a bias is of bf16, or of f16 with a result of f16, where factors are of eight bits";
  return "";
}

/// Room for matrices that stays: products of one size follow each other.
float *scratch(int which, size_t count) {
  static std::vector<float> storage[3];
  std::vector<float> &values = storage[which];
  if (values.size() < count + 16)
    values.resize(count + 16);
  auto address = reinterpret_cast<uintptr_t>(values.data());
  return values.data() + (64 - address % 64) % 64 / sizeof(float);
}

/// The elements (i, j) of op(matrix), in panels of `width` along i; the other index runs `depth`.
/// `isAcross`: neighbours along i are a column apart.
void pack(const Layout &layout, const char *matrix, bool isAcross, size_t count, size_t depth,
          size_t width, bool toTf32, float *to) {
  size_t bytes = elementBytes(layout.type), stride = size_t(layout.stride);
  std::vector<float> line(isAcross ? depth : count);
  std::memset(to, 0, panels(count, width) * width * depth * sizeof(float));
  auto place = [&](size_t i, size_t k) -> float & {
    return to[(i / width * width) * depth + k * width + i % width];
  };
  for (size_t column = 0; column < (isAcross ? count : depth); ++column) {
    toFloats(layout.type, matrix + column * stride * bytes, 1, line.size(), line.data());
    if (toTf32)
      for (float &value : line)
        value = roundToTf32(value);
    if (isAcross)
      for (size_t k = 0; k < depth; ++k)
        place(column, k) = line[k];
    else
      for (size_t i = 0; i < count; ++i)
        place(i, column) = line[i];
  }
}

const char *inBatch(uint64_t at, const Layout &layout, int32_t index) {
  return reinterpret_cast<const char *>(at) +
         int64_t(index) * layout.batchStride * int64_t(elementBytes(layout.type));
}

void runOne(const Product &p, int32_t index) {
  size_t m = p.d.rows, n = p.d.columns, k = p.inner();
  bool toTf32 = p.description.computeType == CUBLAS_COMPUTE_32F_FAST_TF32;
  float *a = scratch(0, panels(m, panelRows) * panelRows * k);
  float *b = scratch(1, panels(n, panelColumns) * panelColumns * k);
  float *sums = scratch(2, m * n);
  pack(p.a, inBatch(p.aAt, p.a, index), p.description.transA == CUBLAS_OP_T, m, k, panelRows,
       toTf32, a);
  pack(p.b, inBatch(p.bAt, p.b, index), p.description.transB == CUBLAS_OP_N, n, k, panelColumns,
       toTf32, b);
  multiply(m, n, k, a, b, sums);
  float scale = p.alpha;
  for (uint64_t at : {p.description.aScale, p.description.bScale})
    if (at)
      scale *= *reinterpret_cast<const float *>(at);

  std::vector<float> bias(p.hasBias() ? m : 0), before(m);
  if (p.hasBias())
    toFloats(p.biasType(), reinterpret_cast<const void *>(p.description.bias), 1, m, bias.data());
  for (size_t j = 0; j < n; ++j) {
    float *column = sums + j * m;
    size_t bytes = elementBytes(p.d.type);
    for (size_t i = 0; i < m; ++i)
      column[i] *= scale;
    if (p.beta != 0) {
      toFloats(p.c.type, inBatch(p.cAt, p.c, index) + j * size_t(p.c.stride) * bytes, 1, m,
               before.data());
      for (size_t i = 0; i < m; ++i)
        column[i] += p.beta * before[i];
    }
    for (size_t i = 0; i < bias.size(); ++i)
      column[i] += bias[i];
    if (p.hasRelu())
      for (size_t i = 0; i < m; ++i)
        column[i] = column[i] < 0 ? 0.0f : column[i];
    fromFloats(p.d.type, column, m,
               const_cast<char *>(inBatch(p.dAt, p.d, index)) + j * size_t(p.d.stride) * bytes);
  }
}

} // namespace

cublasStatus_t checkProduct(const Product &p, std::string &why) {
  auto refuse = [&](cublasStatus_t status, const std::string &text) {
    why = text;
    return status;
  };
  const Description &description = p.description;
  if (description.scaleType != CUDA_R_32F ||
      (description.computeType != CUBLAS_COMPUTE_32F &&
       description.computeType != CUBLAS_COMPUTE_32F_FAST_TF32))
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "sums are in f32 only");
  if (!areTypesServed(p))
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "types do not go together");
  bool transA = description.transA == CUBLAS_OP_T, transB = description.transB == CUBLAS_OP_T;
  uint64_t m = transA ? p.a.columns : p.a.rows, n = transB ? p.b.rows : p.b.columns;
  uint64_t k = p.inner();
  if (k != (transB ? p.b.columns : p.b.rows) || m != p.d.rows || n != p.d.columns ||
      p.c.rows != m || p.c.columns != n)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "sizes do not go together");
  if (!m || !n || !k)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a size of zero");
  for (const Layout *layout : {&p.a, &p.b, &p.c, &p.d}) {
    if (layout->stride < int64_t(layout->rows))
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "a leading dimension of " +
                                                     std::to_string(layout->stride) + " for " +
                                                     std::to_string(layout->rows) + " rows");
    if (layout->batch != p.d.batch || layout->batch < 1)
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "batches differ");
  }
  if (p.d.batch > 1 && p.d.batchStride < p.d.stride * int64_t(n - 1) + int64_t(m) &&
      p.d.stride < p.d.batchStride * (p.d.batch - 1) + int64_t(m))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "results of a batch overlap");
  if (std::string refused = refusalOfF8(p); !refused.empty())
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, refused);
  switch (description.epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
    break;
  default:
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "this epilogue is not emulated");
  }
  if (!isF8(p.a.type) && p.hasBias() && p.biasType() != p.d.type && p.biasType() != CUDA_R_32F)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "a bias is of f32 or of the result's type");
  return CUBLAS_STATUS_SUCCESS;
}

std::vector<WeirEmulatedRange> rangesOf(const Product &p) {
  std::vector<WeirEmulatedRange> ranges;
  auto add = [&](uint64_t at, const Layout &layout, int isWrite) {
    uint64_t bytes = elementBytes(layout.type);
    for (int32_t i = 0; i < (layout.batchStride ? layout.batch : 1); ++i) {
      auto begin = reinterpret_cast<uint64_t>(inBatch(at, layout, i));
      if (layout.stride == int64_t(layout.rows))
        ranges.push_back({begin, bytes * layout.rows * layout.columns, 1, 0, isWrite});
      else
        ranges.push_back(
            {begin, bytes * layout.rows, layout.columns, bytes * uint64_t(layout.stride), isWrite});
    }
  };
  add(p.aAt, p.a, 0);
  add(p.bAt, p.b, 0);
  if (p.beta != 0)
    add(p.cAt, p.c, 0);
  if (p.hasBias())
    ranges.push_back({p.description.bias, p.d.rows * elementBytes(p.biasType()), 1, 0, 0});
  for (uint64_t scale : {p.description.aScale, p.description.bScale})
    if (scale)
      ranges.push_back({scale, sizeof(float), 1, 0, 0});
  if (p.workspaceBytes)
    ranges.push_back({p.workspace, p.workspaceBytes, 1, 0, 1});
  add(p.dAt, p.d, 1);
  return ranges;
}

void runProduct(const Product &product) {
  std::memset(reinterpret_cast<void *>(product.workspace), 0xff, product.workspaceBytes);
  for (int32_t i = 0; i < product.d.batch; ++i)
    runOne(product, i);
}

} // namespace weir::emulated
