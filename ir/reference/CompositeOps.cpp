//===- CompositeOps.cpp - Normalize, cross-entropy and attention ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference semantics of the composites, row by row, and of their gradient ops from the formulas in
// ir/weir/rows/Rows.td.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/rows/Rows.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::reference {
namespace {

Tensors normalize(NormalizeOp op, Inputs in) {
  Tensor normalized(in[0].shape), mean(shapeOf(op.getMean())), rstd(mean.shape);
  size_t n = static_cast<size_t>(in[0].shape.back());
  for (size_t row = 0; row < mean.values.size(); ++row) {
    const double *x = in[0].values.data() + row * n;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i)
      sum += x[i];
    double average = sum / n;
    for (size_t i = 0; i < n; ++i)
      squares += (x[i] - average) * (x[i] - average);
    mean.values[row] = average;
    rstd.values[row] = 1 / std::sqrt(squares / n + op.getEps().convertToDouble());
    for (size_t i = 0; i < n; ++i)
      normalized.values[row * n + i] = (x[i] - average) * rstd.values[row];
  }
  return {normalized, mean, rstd};
}

Tensors normalizeGrad(NormalizeGradOp, Inputs in) {
  const Tensor &mean = in[1], &rstd = in[2];
  Tensor result(in[0].shape);
  size_t n = static_cast<size_t>(in[0].shape.back());
  for (size_t row = 0; row < mean.values.size(); ++row) {
    const double *x = in[0].values.data() + row * n, *g = in[3].values.data() + row * n;
    auto y = [&](size_t i) { return (x[i] - mean.values[row]) * rstd.values[row]; };
    double averageG = 0, averageGY = 0;
    for (size_t i = 0; i < n; ++i) {
      averageG += g[i] / n;
      averageGY += g[i] * y(i) / n;
    }
    for (size_t i = 0; i < n; ++i)
      result.values[row * n + i] = rstd.values[row] * (g[i] - averageG - y(i) * averageGY);
  }
  return {result};
}

Tensors logSoftmax(LogSoftmaxOp, Inputs in) {
  Tensor result(in[0].shape);
  size_t n = static_cast<size_t>(in[0].shape.back());
  for (size_t row = 0; row < result.values.size(); row += n) {
    const double *x = in[0].values.data() + row;
    double largest = *std::max_element(x, x + n), sum = 0;
    for (size_t i = 0; i < n; ++i)
      sum += std::exp(x[i] - largest);
    for (size_t i = 0; i < n; ++i)
      result.values[row + i] = x[i] - largest - std::log(sum);
  }
  return {result};
}

Tensors softmaxCrossEntropy(SoftmaxCrossEntropyOp op, Inputs in) {
  Tensor loss(shapeOf(op.getLoss())), logSumExp(loss.shape);
  size_t n = static_cast<size_t>(in[0].shape.back());
  for (size_t row = 0; row < loss.values.size(); ++row) {
    const double *x = in[0].values.data() + row * n;
    double largest = *std::max_element(x, x + n), sum = 0;
    for (size_t i = 0; i < n; ++i)
      sum += std::exp(x[i] - largest);
    logSumExp.values[row] = largest + std::log(sum);
    // One outside the classes picks none.
    double label = in[1].values[row];
    double picked = std::isnan(label)         ? NAN
                    : label >= 0 && label < n ? x[static_cast<size_t>(label)]
                                              : 0;
    loss.values[row] = logSumExp.values[row] - picked;
  }
  return {loss, logSumExp};
}

Tensors softmaxCrossEntropyGrad(SoftmaxCrossEntropyGradOp, Inputs in) {
  const Tensor &labels = in[1], &logSumExp = in[2], &cotangent = in[3];
  Tensor result(in[0].shape);
  size_t n = static_cast<size_t>(in[0].shape.back());
  for (size_t row = 0; row < labels.values.size(); ++row)
    for (size_t i = 0; i < n; ++i) {
      double probability = std::exp(in[0].values[row * n + i] - logSumExp.values[row]);
      bool label = static_cast<double>(i) == labels.values[row];
      result.values[row * n + i] = (probability - label) * cotangent.values[row];
    }
  return {result};
}

/// One batch and head of attention: queries [t, d], keys [s, d].
struct Head {
  template <class Op>
  Head(Op op, const Tensor &query, const Tensor &key)
      : queries(query.shape[2]), keys(key.shape[2]), width(query.shape[3]),
        scale(op.getScale().convertToDouble()), causal(op.getCausal()) {}

  /// How many keys query i sees.
  int64_t seen(int64_t i) const { return causal ? i + keys - queries + 1 : keys; }
  double dot(const double *a, int64_t i, const double *b, int64_t j) const {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d)
      sum += a[i * width + d] * b[j * width + d];
    return sum;
  }

  int64_t queries, keys, width;
  double scale;
  bool causal;
};

Tensors attention(AttentionOp op, Inputs in, Interpreter &interpreter) {
  Tensor result(in[0].shape), logSumExp(shapeOf(op.getLogSumExp()));
  Head head(op, in[0], in[1]);
  for (int64_t h = 0; h < in[0].shape[0] * in[0].shape[1]; ++h) {
    const double *q = in[0].values.data() + h * head.queries * head.width;
    const double *k = in[1].values.data() + h * head.keys * head.width;
    const double *v = in[2].values.data() + h * head.keys * head.width;
    double *out = result.values.data() + h * head.queries * head.width;
    for (int64_t i = 0; i < head.queries; ++i) {
      std::vector<double> scores;
      for (int64_t j = 0; j < head.seen(i); ++j) {
        scores.push_back(head.scale * head.dot(q, i, k, j));
        interpreter.multiplyAdds += head.width;
      }
      double largest = *std::max_element(scores.begin(), scores.end()), sum = 0;
      for (double score : scores)
        sum += std::exp(score - largest);
      logSumExp.values[h * head.queries + i] = largest + std::log(sum);
      for (int64_t j = 0; j < head.seen(i); ++j) {
        double p = std::exp(scores[j] - largest) / sum;
        for (int64_t d = 0; d < head.width; ++d)
          out[i * head.width + d] += p * v[j * head.width + d];
        interpreter.multiplyAdds += head.width;
      }
    }
  }
  return {result, logSumExp};
}

// p = softmax(scale q k^T): dv = p^T g, ds = p * (g v^T - sum(g * out)), dq = scale ds k, dk =
// scale ds^T q.
Tensors attentionGrad(AttentionGradOp op, Inputs in, Interpreter &interpreter) {
  Tensor queryGrad(in[0].shape), keyGrad(in[1].shape), valueGrad(in[2].shape);
  const Tensor &logSumExp = in[4];
  Head head(op, in[0], in[1]);
  for (int64_t h = 0; h < in[0].shape[0] * in[0].shape[1]; ++h) {
    int64_t queryStart = h * head.queries * head.width, keyStart = h * head.keys * head.width;
    const double *q = in[0].values.data() + queryStart, *k = in[1].values.data() + keyStart;
    const double *v = in[2].values.data() + keyStart, *out = in[3].values.data() + queryStart;
    const double *g = in[5].values.data() + queryStart;
    double *dq = queryGrad.values.data() + queryStart, *dk = keyGrad.values.data() + keyStart;
    double *dv = valueGrad.values.data() + keyStart;
    for (int64_t i = 0; i < head.queries; ++i) {
      double along = head.dot(g, i, out, i);
      for (int64_t j = 0; j < head.seen(i); ++j) {
        double score = head.scale * head.dot(q, i, k, j);
        double p = std::exp(score - logSumExp.values[h * head.queries + i]);
        double ds = p * (head.dot(g, i, v, j) - along) * head.scale;
        for (int64_t d = 0; d < head.width; ++d) {
          dv[j * head.width + d] += p * g[i * head.width + d];
          dq[i * head.width + d] += ds * k[j * head.width + d];
          dk[j * head.width + d] += ds * q[i * head.width + d];
        }
        // Both of the features above, and these three.
        interpreter.multiplyAdds += 5 * head.width;
      }
    }
  }
  return {queryGrad, keyGrad, valueGrad};
}

} // namespace

void attachComposites(mlir::MLIRContext &context) {
  attach<NormalizeOp, normalize>(context);
  attach<NormalizeGradOp, normalizeGrad>(context);
  attach<LogSoftmaxOp, logSoftmax>(context);
  attach<SoftmaxCrossEntropyOp, softmaxCrossEntropy>(context);
  attach<SoftmaxCrossEntropyGradOp, softmaxCrossEntropyGrad>(context);
  attach<AttentionOp, attention>(context);
  attach<AttentionGradOp, attentionGrad>(context);
}

} // namespace weir::reference
