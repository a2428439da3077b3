//===- Decompose.cpp - Composites as plain ops --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Decompose.h"

#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

namespace {
/// Builds elementwise ops and reductions of rows (the last dimension).
struct Rows {
  OpBuilder &builder;
  Location loc;

  Value constant(Value like, double value) {
    return ConstantOp::create(builder, loc, tensorType(like), value);
  }
  template <typename Op> Value unary(Value a) {
    return Op::create(builder, loc, a.getType(), a, TypeAttr());
  }
  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(builder, loc, a.getType(), a, b, TypeAttr());
  }
  Value add(Value a, Value b) { return binary<AddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<SubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<MulOp>(a, b); }
  Value div(Value a, Value b) { return binary<DivOp>(a, b); }
  Value exp(Value a) { return unary<ExpOp>(a); }
  Value log(Value a) { return unary<LogOp>(a); }
  Value scaled(Value a, double factor) { return factor == 1 ? a : mul(a, constant(a, factor)); }

  /// One value for each row, repeated along the rows of `like`, with the value's own element type.
  Value spread(Value value, Value like) {
    auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(value).size()));
    return BroadcastOp::create(builder, loc, typeLike(value, shapeOf(like)), value, dimensions);
  }
  Value reduce(Value a, Reduction kind) {
    return ReduceOp::create(builder, loc, a, kind, int64_t(shapeOf(a).size()) - 1);
  }
  Value sum(Value a) { return reduce(a, Reduction::sum); }
  Value average(Value a) {
    Value total = sum(a);
    return div(total, constant(total, double(shapeOf(a).back())));
  }
  Value iota(Value like, int64_t dimension) {
    return IotaOp::create(builder, loc, RankedTensorType::get(shapeOf(like), builder.getI32Type()),
                          dimension);
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return SelectOp::create(builder, loc, onTrue.getType(), condition, onTrue, onFalse);
  }
  Value matmul(Value a, Value b, bool transposeLhs, bool transposeRhs) {
    return MatmulOp::create(builder, loc, a, b, transposeLhs, transposeRhs);
  }

  /// Whether an element's column is its row's label.
  Value isLabel(Value like, Value labels) {
    return CompareOp::create(builder, loc, Predicate::eq, iota(like, shapeOf(like).size() - 1),
                             spread(labels, like));
  }
  /// scale * q k^T, and minus infinity where query i may not see key j: j > i + s - t.
  Value scores(Value query, Value key, double scale, bool causal) {
    Value all = scaled(matmul(query, key, false, true), scale);
    if (!causal)
      return all;
    Value last = iota(all, 2), offset = constant(last, double(shapeOf(key)[2] - shapeOf(query)[2]));
    Value seen = CompareOp::create(builder, loc, Predicate::le, iota(all, 3), add(last, offset));
    return select(seen, all, constant(all, -std::numeric_limits<double>::infinity()));
  }
};

struct DecomposeNormalize : OpRewritePattern<NormalizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NormalizeOp op, PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    Value x = op.getInput(), mean = b.average(x), centred = b.sub(x, b.spread(mean, x));
    Value variance = b.average(b.mul(centred, centred));
    Value rstd =
        b.unary<RsqrtOp>(b.add(variance, b.constant(variance, op.getEps().convertToDouble())));
    rewriter.replaceOp(op, {b.mul(centred, b.spread(rstd, x)), mean, rstd});
    return success();
  }
};

struct DecomposeNormalizeGrad : OpRewritePattern<NormalizeGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NormalizeGradOp op, PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    Value x = op.getInput(), g = op.getCotangent(), rstd = b.spread(op.getRstd(), x);
    Value y = b.mul(b.sub(x, b.spread(op.getMean(), x)), rstd);
    Value centred = b.sub(g, b.spread(b.average(g), x));
    Value along = b.mul(y, b.spread(b.average(b.mul(g, y)), x));
    rewriter.replaceOp(op, b.mul(rstd, b.sub(centred, along)));
    return success();
  }
};

struct DecomposeSoftmaxCrossEntropy : OpRewritePattern<SoftmaxCrossEntropyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxCrossEntropyOp op,
                                PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    Value logits = op.getLogits(), largest = b.reduce(logits, Reduction::max);
    Value sum = b.sum(b.exp(b.sub(logits, b.spread(largest, logits))));
    Value logSum = b.log(sum);
    // A sum with one term that is not zero is exact.
    Value labelled =
        b.sum(b.select(b.isLabel(logits, op.getLabels()), logits, b.constant(logits, 0)));
    // Not log_sum_exp less the logit: of a confident row that is a small difference of large
    // numbers.
    Value loss = b.add(logSum, b.sub(largest, labelled));
    rewriter.replaceOp(op, {loss, b.add(largest, logSum)});
    return success();
  }
};

struct DecomposeSoftmaxCrossEntropyGrad : OpRewritePattern<SoftmaxCrossEntropyGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxCrossEntropyGradOp op,
                                PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    Value logits = op.getLogits();
    Value probability = b.exp(b.sub(logits, b.spread(op.getLogSumExp(), logits)));
    Value one =
        b.select(b.isLabel(logits, op.getLabels()), b.constant(logits, 1), b.constant(logits, 0));
    rewriter.replaceOp(op, b.mul(b.sub(probability, one), b.spread(op.getCotangent(), logits)));
    return success();
  }
};

struct DecomposeAttend : OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendOp op, PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    Value scores =
        b.scores(op.getQuery(), op.getKey(), op.getScale().convertToDouble(), op.getCausal());
    Value largest = b.reduce(scores, Reduction::max);
    Value weights = b.exp(b.sub(scores, b.spread(largest, scores))), sum = b.sum(weights);
    Value result = b.matmul(b.div(weights, b.spread(sum, weights)), op.getValue(), false, false);
    rewriter.replaceOp(op, {result, b.add(largest, b.log(sum))});
    return success();
  }
};

struct DecomposeAttendGrad : OpRewritePattern<AttendGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttendGradOp op, PatternRewriter &rewriter) const override {
    Rows b{rewriter, op.getLoc()};
    double scale = op.getScale().convertToDouble();
    Value g = op.getCotangent();
    Value scores = b.scores(op.getQuery(), op.getKey(), scale, op.getCausal());
    Value weights = b.exp(b.sub(scores, b.spread(op.getLogSumExp(), scores)));
    Value valueGrad = b.matmul(weights, g, true, false);
    // Softmax's cotangent is p * (dp - sum(p * dp)), and sum(p * dp) over the keys is sum(output *
    // g) over the features.
    Value weightGrad = b.matmul(g, op.getValue(), false, true);
    Value common = b.sum(b.mul(op.getOutput(), g));
    Value scoreGrad =
        b.scaled(b.mul(weights, b.sub(weightGrad, b.spread(common, weightGrad))), scale);
    Value queryGrad = b.matmul(scoreGrad, op.getKey(), false, false);
    Value keyGrad = b.matmul(scoreGrad, op.getQuery(), true, false);
    rewriter.replaceOp(op, {queryGrad, keyGrad, valueGrad});
    return success();
  }
};
} // namespace

void populateDecomposePatterns(RewritePatternSet &patterns) {
  patterns.add<DecomposeNormalize, DecomposeNormalizeGrad, DecomposeSoftmaxCrossEntropy,
               DecomposeSoftmaxCrossEntropyGrad, DecomposeAttend, DecomposeAttendGrad>(
      patterns.getContext());
}

} // namespace weir
