//===- BuiltinsNetwork.cpp - Composites with fused implementations --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/rows/Rows.h"

#include <cmath>

namespace weir::elab {

static Value normalize(BuiltinCall &call) {
  const Tensor *x = call.floats(0);
  auto eps = call.number(1, 1e-5);
  if (!x || !eps)
    return {};
  if (x->rank() < 1)
    return call.wrong(0, "a tensor of at least one dimension");
  if (*eps < 0)
    return call.wrong(1, "at least 0");
  auto op = NormalizeOp::create(call.builder(), call.location(), x->value, *eps);
  return Tensor{op.getNormalized(), x->dims};
}

static Value attention(BuiltinCall &call) {
  const Tensor *q = call.floats(0), *k = call.floats(1), *v = call.floats(2);
  auto causal = call.truth(3, false);
  if (!q || !k || !v || !causal)
    return {};
  for (unsigned i = 0; i < 3; ++i)
    if (call.value(i).get<Tensor>()->rank() != 4)
      return call.wrong(i, "[batch, heads, time, width]");
  auto scale = call.number(4, 1 / std::sqrt(double(q->dims[3].size)));
  if (!scale)
    return {};
  bool fits = sameSizes(k->dims, v->dims);
  for (int64_t i : {0, 1, 3})
    fits = fits && q->dims[i].size == k->dims[i].size;
  if (!fits) {
    call.error("the shapes of `attention` do not fit: q is " + describe(*q) + ", k is " +
               describe(*k) + ", v is " + describe(*v))
        .help("all three agree but for q's time, dimension 2");
    return {};
  }
  if (*causal && k->dims[2].size < q->dims[2].size) {
    call.error("causal `attention` needs at least as many keys as queries: " +
               describe(k->dims[2]) + " keys, " + describe(q->dims[2]) + " queries");
    return {};
  }
  auto op = AttentionOp::create(call.builder(), call.location(), q->value, k->value, v->value,
                                *scale, *causal);
  return Tensor{op.getResult(), q->dims};
}

static Value logSoftmax(BuiltinCall &call) {
  const Tensor *x = call.floats(0);
  if (!x)
    return {};
  if (x->rank() < 1)
    return call.wrong(0, "a tensor of at least one dimension");
  return Tensor{LogSoftmaxOp::create(call.builder(), call.location(), x->value), x->dims};
}

static Value softmaxCrossEntropy(BuiltinCall &call) {
  const Tensor *logits = call.floats(0), *labels = call.tensor(1);
  if (!logits || !labels)
    return {};
  if (!labels->isInt() && !labels->isByte())
    return call.wrong(1, "a tensor of ints");
  if (logits->rank() < 1)
    return call.wrong(0, "a tensor of at least one dimension");
  Dims rows(logits->dims.begin(), logits->dims.end() - 1);
  if (!sameSizes(rows, labels->dims)) {
    call.error("the shapes of `softmax_cross_entropy` do not fit: logits " + describe(*logits) +
               " and labels " + describe(*labels))
        .help("labels have the logits' shape without its last dimension, the classes");
    return {};
  }
  Elaborator &e = call.elaborator;
  if (!e.calls->file->prelude) // whose own losses are looked at where they are called
    e.warnLoss(call.builtin.name, *logits, *labels, call.range);
  Tensor ints = e.tensors.cast(*labels, e.tensors.i32(), call.range);
  auto op =
      SoftmaxCrossEntropyOp::create(call.builder(), call.location(), logits->value, ints.value);
  if (e.entry() && !logits->dims.back().config.empty())
    e.entry()->limitConfigs[op] = logits->dims.back().config;
  return Tensor{op.getLoss(), rows};
}

/// The size that a window leaves, or nothing, reported, where it does not fit.
static std::optional<int64_t> windows(BuiltinCall &call, const Dim &dim, int64_t window,
                                      int64_t stride, int64_t padding) {
  int64_t room = dim.size + 2 * padding - window;
  if (room >= 0)
    return room / stride + 1;
  call.error(std::string("the window of `") + call.builtin.name +
             "` is larger than the image: " + std::to_string(window) + ", but the dimension is " +
             describe(dim) + (padding ? " with " + std::to_string(padding) + " on each side" : ""));
  return std::nullopt;
}

static bool checkWindow(BuiltinCall &call, unsigned i,
                        const std::optional<std::vector<int64_t>> &pair, int64_t least) {
  if (!pair)
    return false;
  for (int64_t value : *pair)
    if (value < least || value > INT32_MAX) {
      call.wrong(i, "at least " + std::to_string(least));
      return false;
    }
  return true;
}

static Value convolution(BuiltinCall &call) {
  const Tensor *x = call.factors(0), *w = call.factors(1);
  auto stride = call.pair(2, 1), padding = call.pair(3, 0);
  if (!x || !w || !checkWindow(call, 2, stride, 1) || !checkWindow(call, 3, padding, 0))
    return {};
  if (x->rank() != 4)
    return call.wrong(0, "images [n, channels, height, width]");
  if (w->rank() != 4)
    return call.wrong(1, "weights [out, channels, height, width]");
  if (x->dims[1].size != w->dims[1].size) {
    call.error("the channels of `conv` do not agree: images " + describe(*x) + " and weights " +
               describe(*w));
    return {};
  }
  auto height = windows(call, x->dims[2], w->dims[2].size, (*stride)[0], (*padding)[0]);
  auto width = height ? windows(call, x->dims[3], w->dims[3].size, (*stride)[1], (*padding)[1])
                      : std::nullopt;
  if (!width)
    return {};
  Dims dims = {x->dims[0], w->dims[0], unnamed(*height), unnamed(*width)};
  return Tensor{
      ConvolutionOp::create(call.builder(), call.location(), x->value, w->value, *stride, *padding),
      dims};
}

static Value maxPool(BuiltinCall &call) {
  const Tensor *x = call.floats(0);
  auto window = call.pair(1, 1);
  if (!x || !checkWindow(call, 1, window, 1))
    return {};
  auto stride = call.has(2) ? call.pair(2, 1) : window;
  if (!checkWindow(call, 2, stride, 1))
    return {};
  if (x->rank() < 2)
    return call.wrong(0, "a tensor of at least two dimensions");
  int64_t rank = x->rank();
  auto height = windows(call, x->dims[rank - 2], (*window)[0], (*stride)[0], 0);
  auto width =
      height ? windows(call, x->dims[rank - 1], (*window)[1], (*stride)[1], 0) : std::nullopt;
  if (!width)
    return {};
  Dims dims = x->dims;
  dims[rank - 2] = unnamed(*height);
  dims[rank - 1] = unnamed(*width);
  return Tensor{MaxPoolOp::create(call.builder(), call.location(), x->value, *window, *stride),
                dims};
}

const std::vector<Builtin> networkBuiltins = {
    {"normalize", "x, eps=", normalize},
    {"attention", "q, k, v, causal=, scale=", attention},
    {"log_softmax", "x", logSoftmax},
    {"softmax_cross_entropy", "logits, labels", softmaxCrossEntropy},
    {"conv", "x, w, stride=, padding=", convolution},
    {"max_pool", "x, window, stride=", maxPool},
};

} // namespace weir::elab
