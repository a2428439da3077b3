// RUN: weir-smith %s | FileCheck %s
// CHECK: cannot be compared: rounding moves

// An input that is its own cotangent: what normalization's gradient leaves of it is little more than
// roundings, which the second normalization makes large.
module attributes {smith.offload, smith.room = 5.000000e-02 : f64, smith.seed = 94001915001 : i64, weir.accumulate = 2 : i64, weir.batch = 1 : i64, weir.configs = {}, weir.epochs = 0 : i64, weir.model = "smith", weir.steps = 1 : i64} {
  weir.variable run @"run/seed" {smith.high = 0x4130000000000000 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/step" {smith.high = 3.000000e+01 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/total_steps" {smith.high = 1.000000e+02 : f64, smith.low = 5.000000e+01 : f64} : tensor<i32>
  weir.variable parameter @p0 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<7xf32>
  func.func @step() -> (tensor<7xf32> {weir.output = "value46", weir.part = "tensor"}) {
    %0 = weir.read @p0 : tensor<7xf32>
    %normalized, %mean, %rstd = weir.normalize %0 {eps = 1.000000e-05 : f64} : tensor<7xf32> -> tensor<f32>
    %1 = weir.normalize_grad %0, %mean, %rstd, %0 : tensor<7xf32>, tensor<f32>
    %2 = weir.constant 10751.8037 : f32 -> tensor<7xf32>
    %3 = weir.mul %1, %2 : tensor<7xf32>
    %normalized_0, %mean_1, %rstd_2 = weir.normalize %3 {eps = 1.000000e-05 : f64} : tensor<7xf32> -> tensor<f32>
    return %normalized_0 : tensor<7xf32>
  }
}
