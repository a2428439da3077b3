//===- Foreign.cpp - What people bring from elsewhere -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row a name. `code` is checked by test/frontend/foreign, where x and y are [4, 6], h is
// [4, 2, 5, 3], images is [4, 3, 8, 8] and ids is i32[4]; a name that Weir itself has needs no row
// and may have none.
//
//===----------------------------------------------------------------------===//

#include "frontend/foreign/Foreign.h"

namespace weir {

static const char dimensions[] = "`split_dim` and `merge_dims` say what becomes of which dimension";
static const char indices[] = "`new` is a dimension of size 1, an int takes one element";
static const char axes[] = "an axis is called `axis`, and `axes` where there may be several";
static const char blocks[] = "blocks are called where they are used, and own their parameters";
static const char draws[] = "drawn anew at each step, of the shape of its argument";
static const char none[] = "there is no such operation yet";
static const char lastDim[] = "along the last dimension; `transpose` makes another one the last";
static const char rates[] = "`lr = cosine(peak = 1e-3, warmup = 100)`, or another schedule";

const std::vector<ForeignName> &foreignNames() {
  using enum Foreign;
  static const std::vector<ForeignName> rows = {
      // Shapes.
      {call, "reshape", "split_dim(x, 1, [2, 3])", dimensions},
      {call, "view", "split_dim(x, 1, [2, 3])", dimensions},
      {call, "unflatten", "split_dim(x, 1, [2, 3])", dimensions},
      {call, "ravel", "merge_dims(x, 0, 2)", dimensions},
      {call, "rearrange", "transpose(split_dim(x, 1, [2, 3]), [1, 0, 2])", dimensions},
      {call, "permute", "transpose(h, [0, 2, 1, 3])", ""},
      {call, "swapaxes", "transpose(h, [0, 2, 1, 3])", "it takes the new order of all dimensions"},
      {call, "moveaxis", "transpose(h, [0, 2, 3, 1])", "it takes the new order of all dimensions"},
      {call, "t", "transpose(x)", ""},
      {call, "squeeze", "images[:, 0]", indices},
      {call, "unsqueeze", "x[:, new]", indices},
      {call, "expand_dims", "x[:, new]", indices},
      {call, "expand", "x + zeros_like(y)", "operators broadcast"},
      {call, "broadcast_to", "x + zeros_like(y)", "operators broadcast"},
      {call, "contiguous", "x", "layouts in memory are the compiler's"},
      {call, "cat", "concat([x, y], 0)", ""},
      {call, "concatenate", "concat([x, y], 0)", ""},
      {call, "stack", "concat([x[new], y[new]], 0)", ""},
      {call, "chunk", "", "`a, b = split(x, 2, -1)`: a number of equal parts, or a list of sizes"},
      {call, "len", "size(x, 0)", ""},
      {call, "numel", "size(x)", ""},
      // Elements.
      {call, "where", "select(x > 0, x, y)", ""},
      {call, "masked_fill", "select(x > 0, x, -1e9)", ""},
      {call, "tril", "select(position(x, 0) >= position(x, 1), x, 0.0)", ""},
      {call, "triu", "select(position(x, 0) <= position(x, 1), x, 0.0)", ""},
      {call, "clip", "clamp(x, 0.0, 1.0)", ""},
      {call, "pow", "x ^ 2", ""},
      {call, "power", "x ^ 2", ""},
      {call, "square", "x ^ 2", ""},
      {call, "maximum", "max(x, y)", ""},
      {call, "minimum", "min(x, y)", ""},
      {call, "multiply", "x * y", ""},
      {call, "floor_divide", "div(7, 2)", "of ints, rounding down"},
      {call, "leaky_relu", "max(x, 0.01 * x)", ""},
      {call, "isfinite", "is_finite(x)", ""},
      {call, "isnan", "not is_finite(x)", "of what is neither infinite nor missing"},
      {call, "float", "f32(ids)", ""},
      {call, "astype", "f32(ids)", "and `i32(x)`"},
      {call, "long", "i32(x)", ""},
      {call, "int", "i32(x)", ""},
      {call, "to", "f32(ids)", "where a model runs is no part of it"},
      {call, "cuda", "x", "where a model runs is no part of it"},
      {call, "detach", "stop_gradient(x)", ""},
      {call, "item", "", "values exist in a run only; `metric` reports them"},
      {call, "print", "", "values exist in a run only; `metric` reports them"},
      // Reductions and products.
      {call, "amax", "max_over(x, [1])", ""},
      {call, "amin", "min_over(x, [1])", ""},
      {call, "prod", "exp(sum(log(x)))", "of positive numbers"},
      {call, "var", "mean((x - mean(x)) ^ 2)", "`moments(x, axes)` gives mean and variance"},
      {call, "std", "sqrt(mean((x - mean(x)) ^ 2))", "`moments(x, axes)` gives mean and variance"},
      {call, "norm", "sqrt(sum(x ^ 2))", ""},
      {call, "matmul", "x @ transpose(y)", ""},
      {call, "bmm", "h @ transpose(h)", ""},
      {call, "mm", "x @ transpose(y)", ""},
      {call, "dot", "sum(x * y)", ""},
      {call, "einsum", "h @ transpose(h)", "`@`, `transpose` and `sum` say the rest"},
      {call, "cumsum", "", none},
      {call, "sort", "", none},
      {call, "topk", "", none},
      {call, "cumprod", "", none},
      {call, "argsort", "", none},
      {call, "unique", "", none},
      {call, "scatter", "", none},
      {call, "scatter_add", "", none},
      {call, "argmin", "argmax(-x, 1)", ""},
      {call, "any", "max_over(f32(x > 0.0), [1]) > 0.0", ""},
      {call, "all", "min_over(f32(x > 0.0), [1]) > 0.0", ""},
      {call, "outer", "x[:, :, new] * y[:, new, :]", "operators broadcast"},
      {call, "trace", "sum(select(position(x, 0) == position(x, 1), x, 0.0))", ""},
      {call, "cosine_similarity",
       "sum(x * y, [1]) * rsqrt(sum(x ^ 2, [1])) * rsqrt(sum(y ^ 2, [1]))", ""},
      {call, "cdist", "sqrt(sum((x[:, new] - y[new]) ^ 2, [2]))", ""},
      // Linear algebra and signals.
      {call, "svd", "", none},
      {call, "qr", "", none},
      {call, "inv", "", none},
      {call, "inverse", "", none},
      {call, "pinv", "", none},
      {call, "det", "", none},
      {call, "slogdet", "", none},
      {call, "solve", "", none},
      {call, "cholesky", "", none},
      {call, "eig", "", none},
      {call, "eigh", "", none},
      {call, "lstsq", "", none},
      {call, "fft", "", none},
      {call, "rfft", "", none},
      {call, "interpolate", "", none},
      // Made of nothing.
      {call, "arange", "iota(6)", ""},
      {call, "range", "", "`for i in 0..4 { … }` is a loop, `iota(4)` a tensor"},
      {call, "full", "zeros_like(x) + 2.0", "a parameter begins as `zeros()`, `ones()`, …"},
      {call, "ones_like", "zeros_like(x) + 1.0", ""},
      {call, "eye", "f32(position(x, 0) == position(x, 1))", ""},
      {call, "one_hot", "f32(ids[:, new] == iota(6))", ""},
      {call, "rand", "random_uniform(x)", draws},
      {call, "randn", "random_normal(x)", draws},
      {call, "randn_like", "random_normal(x)", draws},
      {call, "tensor", "2.0", "numbers and lists are written as they are"},
      {call, "array", "2.0", "numbers and lists are written as they are"},
      {call, "take", "x[ids]", ""},
      {call, "index_select", "x[ids]", ""},
      {call, "gather", "x[ids]", "it takes whole rows"},
      // Layers and losses.
      {call, "Linear", "linear(x, 8)", blocks},
      {call, "Dense", "linear(x, 8)", blocks},
      {call, "Embedding", "embedding(ids, 10, 8)", blocks},
      {call, "LayerNorm", "layer_norm(x)", blocks},
      {call, "RMSNorm", "rms_norm(x)", blocks},
      {call, "GroupNorm", "group_norm(images, 3)", blocks},
      {call, "BatchNorm2d", "batch_norm(images)", blocks},
      {call, "Conv2d", "conv2d(images, 16, 3)", blocks},
      {call, "Dropout", "dropout(x, 0.1)", ""},
      {call, "MaxPool2d", "max_pool2d(images, 2)", ""},
      {call, "avg_pool2d", "mean(split_dim(split_dim(images, 3, [4, 2]), 2, [4, 2]), [3, 5])",
       "the mean over windows of 2 by 2"},
      {call, "AvgPool2d", "mean(split_dim(split_dim(images, 3, [4, 2]), 2, [4, 2]), [3, 5])",
       "the mean over windows of 2 by 2"},
      {call, "adaptive_avg_pool2d", "mean(images, [2, 3])", "the mean over the whole image"},
      {call, "AdaptiveAvgPool2d", "mean(images, [2, 3])", "the mean over the whole image"},
      {call, "BatchNorm1d", "batch_norm(x[:, :, new, new])[:, :, 0, 0]", blocks},
      {call, "LSTM", "", none},
      {call, "GRU", "", none},
      {call, "RNN", "", none},
      {call, "ConvTranspose2d", "", none},
      {call, "conv_transpose2d", "", none},
      {call, "elu", "select(x > 0.0, x, expm1(x))", ""},
      {call, "relu6", "clamp(x, 0.0, 6.0)", ""},
      {call, "hardsigmoid", "clamp(x / 6.0 + 0.5, 0.0, 1.0)", ""},
      {call, "hardswish", "x * clamp(x / 6.0 + 0.5, 0.0, 1.0)", ""},
      {call, "mish", "x * tanh(softplus(x))", ""},
      {call, "swish", "silu(x)", ""},
      {call, "logsigmoid", "log_sigmoid(x)", ""},
      {call, "Sequential", "linear(relu(linear(x, 8) as first), 8) as second", blocks},
      {call, "MultiheadAttention", "attention(h, h, h)",
       "`to_heads` and `from_heads` are about it"},
      {call, "scaled_dot_product_attention", "attention(h, h, h, causal = true)", ""},
      {call, "CrossEntropyLoss", "cross_entropy(x, ids)", ""},
      {call, "binary_cross_entropy_with_logits", "bce_with_logits(x, y)", ""},
      {call, "nll_loss", "cross_entropy(x, ids)", "of logits, without a softmax"},
      {call, "mse_loss", "mse(x, y)", ""},
      {call, "MSELoss", "mse(x, y)", ""},
      {call, "l1_loss", "ratio(sum(abs(x - y)), size(x))", ""},
      {call, "L1Loss", "ratio(sum(abs(x - y)), size(x))", ""},
      {call, "BCEWithLogitsLoss", "bce_with_logits(x, y)", ""},
      {call, "kl_div", "ratio(sum(y * (log(y) - x)), size(x, 0))",
       "x has logarithms, as in PyTorch"},
      {call, "CosineAnnealingLR", "", rates},
      {call, "OneCycleLR", "", rates},
      {call, "LinearLR", "", rates},
      {call, "StepLR", "", rates},
      {call, "get_cosine_schedule_with_warmup", "", rates},
      // Names of arguments: of one function, then of any.
      {argument, "softmax.dim", "softmax(x)", lastDim},
      {argument, "softmax.axis", "softmax(x)", lastDim},
      {argument, "log_softmax.dim", "log_softmax(x)", lastDim},
      {argument, "log_softmax.axis", "log_softmax(x)", lastDim},
      {argument, "logsumexp.dim", "logsumexp(x)", lastDim},
      {argument, "logsumexp.axis", "logsumexp(x)", lastDim},
      {argument, "normalize.dim", "normalize(x)", lastDim},
      {argument, "layer_norm.normalized_shape", "layer_norm(x)", lastDim},
      {argument, "rms_norm.normalized_shape", "rms_norm(x)", lastDim},
      {argument, "max_pool2d.kernel_size", "max_pool2d(images, window = 2)", ""},
      {argument, "max_pool.kernel_size", "max_pool(images, window = 2)", ""},
      {argument, "concat.dim", "concat([x, y], axis = 0)", ""},
      {argument, "split.dim", "", "it is called `axis`: `a, b = split(x, 2, axis = -1)`"},
      {argument, "argmax.dim", "argmax(x, axis = 1)", ""},
      {argument, "size.dim", "size(x, axis = 0)", ""},
      {argument, "position.dim", "position(x, axis = 0)", ""},
      {argument, "split_dim.dim", "split_dim(x, axis = 1, sizes = [2, 3])", ""},
      {argument, "mean.dim", "mean(x, axes = [1])", ""},
      {argument, "max_over.dim", "max_over(x, axes = [1])", ""},
      {argument, "min_over.dim", "min_over(x, axes = [1])", ""},
      {argument, "moments.dim", "", "they are called `axes`: `m, v = moments(x, axes = [1])`"},
      {argument, "dim", "sum(x, axes = [1])", axes},
      {argument, "axis", "sum(x, axes = [1])", axes},
      {argument, "keepdim", "sum(x, [1])[:, new]", "a reduced dimension is gone"},
      {argument, "keepdims", "sum(x, [1])[:, new]", "a reduced dimension is gone"},
      {argument, "out_features", "linear(x, out = 8)", "the inputs are seen from x"},
      {argument, "in_features", "linear(x, out = 8)", "the inputs are seen from x"},
      {argument, "out_channels", "conv2d(images, filters = 16, kernel = 3)",
       "the channels that come in are seen from the images"},
      {argument, "in_channels", "conv2d(images, filters = 16, kernel = 3)",
       "the channels that come in are seen from the images"},
      {argument, "kernel_size", "conv2d(images, filters = 16, kernel = 3)", ""},
      {argument, "num_embeddings", "embedding(ids, rows = 10, width = 8)", ""},
      {argument, "embedding_dim", "embedding(ids, rows = 10, width = 8)", ""},
      {argument, "p", "dropout(x, rate = 0.1)", ""},
      {argument, "is_causal", "attention(h, h, h, causal = true)", ""},
      {argument, "label_smoothing", "cross_entropy(x, ids, smoothing = 0.1)", ""},
      {argument, "weight_decay", "", "it is called `decay`: `adamw(lr, decay = 0.1)`"},
      {argument, "betas", "", "each has its name: `adamw(lr, beta1 = 0.9, beta2 = 0.99)`"},
      {argument, "dtype", "f32(ids)", "element types are converted by `f32` and `i32`"},
      {argument, "device", "", "where a model runs is no part of it"},
      {argument, "inplace", "", "nothing is changed in place: give the result a name"},
      // Values.
      {value, "True", "true", ""},
      {value, "False", "false", ""},
      {value, "None", "none", ""},
      {value, "self", "", "what a block declares is in scope by its own name"},
      {value, "inf", "1e30", "a large number serves: infinities spread in gradients"},
      {value, "shape", "size(x, 0)", "a signature names dimensions as well: `x: [b, t]`"},
      {value, "ndim", "rank(x)", ""},
      {value, "T", "transpose(x)", ""},
      {value, "dtype", "f32(ids)", "element types are converted by `f32` and `i32`"},
      // The first words of statements and items.
      {statement, "def", "",
       "`fn name(x: [..]) -> [..] { … }`, or a `block` where it owns parameters"},
      {statement, "class", "", "`block name(x: [..]) -> [..] { … }` owns its parameters"},
      {statement, "lambda", "", "`fn name(x) { … }` stands outside of bodies"},
      {statement, "import", "", "every definition of the prelude is there already"},
      {statement, "from", "", "every definition of the prelude is there already"},
      {statement, "while", "", "loops are unrolled when compiling: `for i in 0..4 { … }`"},
      {statement, "elif", "", "`else if condition { … }`"},
      {statement, "assert", "", "`require condition, \"message\"`"},
      {statement, "with", "",
       "gradients are taken where `loss` stands; `stop_gradient(x)` ends them"},
      {statement, "pass", "", "an empty body is `{ }`"},
      {statement, "print", "", "values exist in a run only; `metric` reports them"},
      {statement, "var", "", "a name is bound by `name = value`"},
      {statement, "export", "", "everything in the file is visible in it, and nowhere else"},
  };
  return rows;
}

std::string ForeignName::help() const {
  std::string text = note;
  if (*code)
    text = "write `" + std::string(code) + "`" + (text.empty() ? "" : "; " + text);
  return text;
}

const ForeignName *foreignName(Foreign use, std::string_view name) {
  name = name.substr(name.rfind('.') + 1); // npos + 1 is 0
  for (const ForeignName &row : foreignNames())
    if (row.use == use && name == row.name)
      return &row;
  return nullptr;
}

const ForeignName *foreignArgument(std::string_view callee, std::string_view name) {
  std::string ofCallee = std::string(callee) + "." + std::string(name);
  for (const ForeignName &row : foreignNames())
    if (row.use == Foreign::argument && ofCallee == row.name)
      return &row;
  return foreignName(Foreign::argument, name);
}

} // namespace weir
