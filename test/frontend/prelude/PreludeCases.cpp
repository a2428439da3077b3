//===- PreludeCases.cpp - What every prelude definition is tested on ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/prelude/PreludeCases.h"

namespace weir::test {

std::vector<GradientCase> gradientCases() {
  std::vector<GradientCase> cases;
  // Calls of an input x, from its sizes and those of the result.
  auto add = [&](const std::string &definition, const std::string &name, const std::string &x,
                 const std::string &call, const std::string &result, bool linear = false) {
    cases.push_back({definition, name, call, "input x: [" + x + "]", result, linear, 1e-5});
  };
  auto linear = [&](auto... text) { add(text..., true); };

  linear("linear", "odd", "3, 5", "linear(x, 7)", "3, 7");
  linear("linear", "one", "1, 1", "linear(x, 1)", "1, 1");
  linear("linear", "wide", "2, 3, 19", "linear(x, 33)", "2, 3, 33");
  linear("linear", "no_bias", "4, 3", "linear(x, 2, bias = false)", "4, 2");
  linear("linear", "in_out", "3, 5", "linear(x, 7, layout = in_out)", "3, 7");
  linear("linear", "given", "3, 4", "linear(x, 5, init = normal(std = 0.5))", "3, 5");
  linear("linear", "all", "2, 9", "linear(x, 3, bias = false, layout = in_out, init = ones())",
         "2, 3");

  auto embedding = [&](const std::string &name, const std::string &ids, const std::string &call,
                       const std::string &result) {
    cases.push_back({"embedding", name, call, "input x: i32[" + ids + "]", result, true, 1e-5});
  };
  embedding("row", "5", "embedding(x, 7, 3)", "5, 3");
  embedding("one", "1", "embedding(x, 1, 1)", "1, 1");
  embedding("windows", "2, 9", "embedding(x, 4, 17, init = normal(std = 0.5))", "2, 9, 17");

  add("layer_norm", "odd", "4, 17", "layer_norm(x)", "4, 17");
  add("layer_norm", "one", "3, 1", "layer_norm(x, eps = 0.5)", "3, 1");
  // Its gradient is zero in mathematics, and rounding in f32.
  cases.back().compiledTolerance = 1e-2;
  add("layer_norm", "windows", "2, 3, 5", "layer_norm(x, eps = 0.1)", "2, 3, 5");
  add("layer_norm", "wide", "3, 67", "layer_norm(x)", "3, 67");

  add("rms_norm", "odd", "4, 17", "rms_norm(x)", "4, 17");
  add("rms_norm", "one", "3, 1", "rms_norm(x, eps = 0.5)", "3, 1");
  add("rms_norm", "windows", "2, 3, 5", "rms_norm(x, eps = 0.1)", "2, 3, 5");
  add("rms_norm", "wide", "3, 67", "rms_norm(x)", "3, 67");

  add("group_norm", "odd", "2, 6, 3, 5", "group_norm(x, 3)", "2, 6, 3, 5");
  add("group_norm", "whole", "3, 5, 2, 1", "group_norm(x, 1, eps = 0.1)", "3, 5, 2, 1");
  add("group_norm", "channels", "1, 3, 3, 3", "group_norm(x, 3, eps = 0.5)", "1, 3, 3, 3");
  add("group_norm", "wide", "2, 4, 5, 17", "group_norm(x, 2)", "2, 4, 5, 17");

  add("batch_norm", "odd", "3, 5, 3, 3", "batch_norm(x)", "3, 5, 3, 3");
  add("batch_norm", "one_channel", "2, 1, 1, 3", "batch_norm(x, eps = 0.1)", "2, 1, 1, 3");
  add("batch_norm", "two_elements", "2, 3, 1, 1", "batch_norm(x, eps = 0.5)", "2, 3, 1, 1");
  add("batch_norm", "wide", "2, 17, 2, 9", "batch_norm(x, momentum = 0.25)", "2, 17, 2, 9");

  linear("conv2d", "odd", "2, 3, 5, 7", "conv2d(x, 5, 3)", "2, 5, 3, 5");
  linear("conv2d", "one", "1, 1, 1, 1", "conv2d(x, 1, 1)", "1, 1, 1, 1");
  linear("conv2d", "padded", "1, 2, 4, 4", "conv2d(x, 3, 3, padding = 1)", "1, 3, 4, 4");
  linear("conv2d", "strided", "2, 1, 7, 6", "conv2d(x, 2, 2, stride = 3, bias = false)",
         "2, 2, 2, 2");
  linear("conv2d", "given", "1, 17, 3, 3",
         "conv2d(x, 2, 3, padding = 1, stride = 2, init = ones())", "1, 2, 2, 2");

  add("max_pool2d", "even", "2, 3, 4, 6", "max_pool2d(x, 2)", "2, 3, 2, 3");
  add("max_pool2d", "one", "1, 1, 1, 1", "max_pool2d(x, 1)", "1, 1, 1, 1");
  add("max_pool2d", "overlapping", "1, 2, 7, 5", "max_pool2d(x, 3, stride = 2)", "1, 2, 3, 2");
  add("max_pool2d", "rest", "2, 1, 5, 7", "max_pool2d(x, 2)", "2, 1, 2, 3");

  linear("dropout", "half", "5, 7", "dropout(x, 0.5)", "5, 7");
  linear("dropout", "seldom", "3, 37", "dropout(x, rate = 0.1)", "3, 37");
  linear("dropout", "never", "1, 3", "dropout(x, rate = 0.0)", "1, 3");
  linear("flatten", "images", "2, 3, 5, 1", "flatten(x)", "2, 15");
  linear("flatten", "rows", "3, 17", "flatten(x)", "3, 17");
  linear("flatten", "one", "1, 1, 1", "flatten(x)", "1, 1");
  linear("to_heads", "odd", "2, 5, 9", "to_heads(x, 3)", "2, 3, 5, 3");
  linear("to_heads", "one", "1, 1, 1", "to_heads(x, 1)", "1, 1, 1, 1");
  linear("to_heads", "single", "2, 3, 17", "to_heads(x, 1)", "2, 1, 3, 17");
  linear("from_heads", "odd", "2, 3, 5, 3", "from_heads(x)", "2, 5, 9");
  linear("from_heads", "one", "1, 1, 1, 1", "from_heads(x)", "1, 1, 1");
  linear("from_heads", "wide", "1, 2, 3, 17", "from_heads(x)", "1, 3, 34");

  linear("rotary", "odd", "2, 3, 5, 6", "rotary(x)", "2, 3, 5, 6");
  linear("rotary", "one", "1, 1, 1, 2", "rotary(x)", "1, 1, 1, 2");
  linear("rotary", "wide", "1, 2, 17, 34", "rotary(x, base = 100.0)", "1, 2, 17, 34");

  add("clamp", "odd", "3, 5", "clamp(x, -0.5, 0.75)", "3, 5");
  add("clamp", "one", "1", "clamp(x, -100, 100)", "1");
  add("clamp", "wide", "2, 67", "clamp(x, 0.25, 0.5)", "2, 67");
  for (const char *activation : {"relu", "silu", "gelu", "gelu_tanh", "softplus", "log_sigmoid"}) {
    std::string call = std::string(activation) + "(x)";
    add(activation, "one", "1", call, "1");
    add(activation, "odd", "3, 5", call, "3, 5");
    add(activation, "wide", "2, 1, 67", call, "2, 1, 67");
    // Of a scalar.
    add(activation, "scalar", "3", std::string(activation) + "(sum(x))", "3");
  }
  add("share_so_far", "scalar", "3", "share_so_far(0.75, sum(x))", "3");
  add("share_so_far", "at_once", "3", "share_so_far(0.0, sum(x))", "3");
  add("softmax", "odd", "3, 5", "softmax(x)", "3, 5");
  add("softmax", "one", "2, 1", "softmax(x)", "2, 1");
  add("softmax", "two", "1, 2", "softmax(x)", "1, 2");
  add("softmax", "wide", "2, 3, 33", "softmax(x)", "2, 3, 33");

  add("logsumexp", "odd", "3, 5", "logsumexp(x)", "3");
  add("logsumexp", "one", "2, 1", "logsumexp(x)", "2");
  add("logsumexp", "wide", "2, 3, 33", "logsumexp(x)", "2, 3");

  // Halves of a scale are where f32 may round the other way: the numbers here are not near one.
  add("fake_quantize", "odd", "3, 5", "fake_quantize(x, 0.25)", "3, 5");
  add("fake_quantize", "cut_off", "2, 67", "fake_quantize(x, exp(0.1 * mean(x)) * 0.125, bits = 3)",
      "2, 67");
  add("quantization_scale", "all", "7", "x * quantization_scale(abs(x), bits = 4)", "7");
  add("fake_quantize_weight", "rows", "3, 5", "fake_quantize_weight(x)", "3, 5");
  add("fake_quantize_weight", "filters", "2, 3, 3, 3", "fake_quantize_weight(x, bits = 5)",
      "2, 3, 3, 3");
  add("fake_quantize_running", "odd", "3, 5", "fake_quantize_running(x)", "3, 5");
  add("fake_quantize_running", "one", "1", "fake_quantize_running(x, bits = 4, momentum = 0.5)",
      "1");

  auto loss = [&](const std::string &definition, const std::string &name, const std::string &x,
                  const std::string &target, bool ofFloats, const std::string &options = "") {
    std::string y = std::string("input y: ") + (ofFloats ? "[" : "i32[") + target + "]";
    cases.push_back({definition, name, definition + "(x, y" + options + ")",
                     "input x: [" + x + "]\n  " + y, "", false, 1e-5});
  };
  loss("cross_entropy", "odd", "4, 7", "4", false);
  loss("cross_entropy", "one", "1, 1", "1", false);
  loss("cross_entropy", "windows", "2, 5, 17", "2, 5", false);
  loss("cross_entropy", "smooth", "4, 7", "4", false, ", smoothing = 0.25");
  loss("cross_entropy", "smooth_windows", "2, 5, 17", "2, 5", false, ", smoothing = 0.1");
  loss("accuracy", "odd", "5, 7", "5", false);
  loss("accuracy", "one", "1, 1", "1", false);
  loss("accuracy", "windows", "2, 5, 17", "2, 5", false);
  loss("bce_with_logits", "odd", "3, 5", "3, 5", true);
  loss("bce_with_logits", "one", "1", "1", true);
  loss("bce_with_logits", "wide", "2, 3, 33", "2, 3, 33", true);
  loss("mse", "odd", "3, 5", "3, 5", true);
  loss("mse", "one", "1", "1", true);
  loss("mse", "wide", "2, 3, 33", "2, 3, 33", true);
  return cases;
}

// Most numbers are sums of powers of two, which f32 holds: the interpreter then has the formula's
// own.
std::vector<OptimizerCase> optimizerCases() {
  std::vector<OptimizerCase> cases;
  // 1 - beta^t is an exponential of log(beta), which no f32 is.
  constexpr double ofLogarithms = 1e-7;
  auto sgd = [&](const std::string &options, double momentum, bool nesterov, double decay) {
    cases.push_back(
        {"sgd", "sgd(lr = 0.125" + options + ")", 0.125, momentum, 0, 0, 0, decay, nesterov});
  };
  sgd("", 0, false, 0);
  sgd(", decay = 0.25", 0, false, 0.25);
  sgd(", momentum = 0.75", 0.75, false, 0);
  sgd(", momentum = 0.75, decay = 0.25", 0.75, false, 0.25);
  sgd(", momentum = 0.5, nesterov = true", 0.5, true, 0);
  sgd(", momentum = 0.875, nesterov = true, decay = 0.125", 0.875, true, 0.125);
  cases.push_back({"adamw",
                   "adamw(lr = 0.125, beta1 = 0.75, beta2 = 0.875, eps = 0.125, decay = 0.25)",
                   0.125, 0, 0.75, 0.875, 0.125, 0.25, false, ofLogarithms});
  cases.push_back(
      {"adamw", "adamw(lr = 0.125, beta1 = 0.5, beta2 = 0.96875, eps = 0.0009765625, decay = 0.0)",
       0.125, 0, 0.5, 0.96875, 0.0009765625, 0, false, ofLogarithms});
  cases.push_back({"adamw", "adamw(lr = 0.125)", 0.125, 0, 0.9, 0.999, 1e-8, 0.01, false, 1e-6});
  cases.push_back({"adam",
                   "adam(lr = 0.125, beta1 = 0.75, beta2 = 0.875, eps = 0.125, decay = 0.25)",
                   0.125, 0, 0.75, 0.875, 0.125, 0.25, false, ofLogarithms});
  cases.push_back({"adam", "adam(lr = 0.125)", 0.125, 0, 0.9, 0.999, 1e-8, 0, false, 1e-6});
  cases.push_back({"lion", "lion(lr = 0.125, beta1 = 0.75, beta2 = 0.875, decay = 0.25)", 0.125, 0,
                   0.75, 0.875, 0, 0.25});
  cases.push_back({"lion", "lion(lr = 0.125)", 0.125, 0, 0.9, 0.99, 0, 0, false, 1e-6});
  cases.push_back({"frozen", "frozen()", 0});
  return cases;
}

std::vector<ScheduleCase> scheduleCases() {
  return {
      {"constant", "constant(0.5)", 0.5, 0, 0, 5},
      {"constant", "constant(peak = 0.25, warmup = 3)", 0.25, 0, 3, 16},
      // A warmup is at most a quarter of the run.
      {"constant", "constant(peak = 0.25, warmup = 100)", 0.25, 0, 100, 9},
      {"cosine", "cosine(1.0)", 1, 0, 0, 7},
      {"cosine", "cosine(peak = 0.5, warmup = 3, floor = 0.125)", 0.5, 0.125, 3, 13},
      {"cosine", "cosine(peak = 0.001, warmup = 100, floor = 0.0001)", 1e-3, 1e-4, 100, 10},
      {"cosine", "cosine(peak = 1.0, warmup = 1)", 1, 0, 1, 1},
      {"linear_decay", "linear_decay(1.0)", 1, 0, 0, 7},
      {"linear_decay", "linear_decay(peak = 0.5, warmup = 4, floor = 0.125)", 0.5, 0.125, 4, 16},
      {"linear_decay", "linear_decay(peak = 0.001, warmup = 100)", 1e-3, 0, 100, 10},
  };
}

} // namespace weir::test
