// RUN: weir-smith %s | FileCheck %s
// CHECK: cannot be compared: weir.div: rounding may turn a decision

// The gradient of a normalization for equal cotangents is 0. In f64 a rest of 1e-17 is left of it,
// and the quotient is 1; an implementation in f32 may have 0 / 0 there.
module attributes {smith.seed = 93002936000 : i64, weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  weir.variable run @"run/seed" : tensor<i32>
  weir.variable run @"run/step" : tensor<i32>
  weir.variable run @"run/total_steps" : tensor<i32>
  weir.variable parameter @p8 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<12x1x7xf32>
  func.func @step() -> (tensor<12x1x7xf32> {weir.output = "quotient", weir.part = "tensor"}) {
    %0 = weir.read @p8 : tensor<12x1x7xf32>
    %normalized, %mean, %rstd = weir.normalize %0 {eps = 1.000000e-05 : f64} : tensor<12x1x7xf32> -> tensor<12x1xf32>
    %1 = weir.constant 1.000000e+00 : f32 -> tensor<12x1x7xf32>
    %2 = weir.normalize_grad %0, %mean, %rstd, %1 : tensor<12x1x7xf32>, tensor<12x1xf32>
    %3 = weir.div %2, %2 : tensor<12x1x7xf32>
    return %3 : tensor<12x1x7xf32>
  }
}
