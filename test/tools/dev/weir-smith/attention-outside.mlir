// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// Attention in the body of microbatches, differentiated there, to views of what is outside.
module attributes {smith.seed = 41423001 : i64, weir.accumulate = 2 : i64, weir.batch = 1 : i64, weir.configs = {}, weir.epochs = 0 : i64, weir.model = "smith", weir.steps = 1 : i64} {
  weir.variable run @"run/seed" {smith.high = 0x4130000000000000 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/step" {smith.high = 3.000000e+01 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/total_steps" {smith.high = 1.000000e+02 : f64, smith.low = 5.000000e+01 : f64} : tensor<i32>
  weir.variable parameter @p0 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<17x33xf32>
  weir.variable parameter @p6 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2x1x1x1xf32>
  weir.variable parameter @p23 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2x1x9x8xf32>
  func.func @step(%arg0: tensor<6x1x1x1xf32> {smith.high = 2.000000e+00 : f64, smith.low = -2.000000e+00 : f64, weir.input = "x10"}) {
    %0 = weir.read @p23 : tensor<2x1x9x8xf32>
    %1 = weir.read @p6 : tensor<2x1x1x1xf32>
    %2 = weir.read @p0 : tensor<17x33xf32>
    %3 = weir.pad %2 {offsets = array<i64: 3, 2>, strides = array<i64: 2, 1>} : tensor<17x33xf32> -> tensor<36x36xf32>
    %4 = weir.merge_dims %3 {count = 2 : i64, first = 0 : i64} : tensor<36x36xf32> -> tensor<1296xf32>
    %5 = weir.slice %4 {offsets = array<i64: 1057>, strides = array<i64: 1>} : tensor<1296xf32> -> tensor<2xf32>
    %6 = weir.split_dim %5 {dimension = 0 : i64, sizes = array<i64: 2, 1, 1, 1>} : tensor<2xf32> -> tensor<2x1x1x1xf32>
    %result, %log_sum_exp = weir.attention %6, %1, %1 {causal, scale = 1.000000e+00 : f64} : tensor<2x1x1x1xf32>, tensor<2x1x1x1xf32> -> tensor<2x1x1xf32>
    %7:2 = weir.microbatches 3 sliced(%arg0) carried() : (tensor<6x1x1x1xf32>) -> (tensor<2x1x1x1xf32>, tensor<2x1x9x8xf32>) {
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<2x1x1x1xf32>):
      %normalized, %mean, %rstd = weir.normalize %result {eps = 2.500000e-01 : f64} : tensor<2x1x1x1xf32> -> tensor<2x1x1xf32>
      %8 = weir.reduce sum %mean {axes = array<i64: 0, 1, 2>} : tensor<2x1x1xf32> -> tensor<f32>
      %9:2 = weir.gradient %8 wrt(%1, %0) : (tensor<f32>, tensor<2x1x1x1xf32>, tensor<2x1x9x8xf32>) -> (tensor<2x1x1x1xf32>, tensor<2x1x9x8xf32>)
      weir.yield %9#0, %9#1 : tensor<2x1x1x1xf32>, tensor<2x1x9x8xf32>
    }
    weir.write @p23, %7#1 : tensor<2x1x9x8xf32>
    return
  }
}
