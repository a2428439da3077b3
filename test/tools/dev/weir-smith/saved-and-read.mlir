// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// The last stage keeps a value for its backward section ahead of the kernel that reads it last: the
// kernel's result must not be written over it.
module attributes {smith.seed = 94000753001 : i64, smith.strategy = #weir.strategy<"mesh=pp=2 schedule=1f1b">, weir.accumulate = 2 : i64, weir.batch = 1 : i64, weir.configs = {}, weir.epochs = 0 : i64, weir.model = "smith", weir.steps = 1 : i64} {
  weir.variable run @"run/seed" {smith.high = 0x4130000000000000 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/step" {smith.high = 3.000000e+01 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/total_steps" {smith.high = 1.000000e+02 : f64, smith.low = 5.000000e+01 : f64} : tensor<i32>
  weir.variable parameter @p1 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2xf32>
  weir.variable parameter @p3 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2xf32>
  weir.variable parameter @p5 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<f32>
  func.func @step(%arg0: tensor<48xf32> {smith.high = 2.000000e+00 : f64, smith.low = -2.000000e+00 : f64, weir.input = "x9"}, %arg1: tensor<9xi32> {smith.high = 2.000000e+01 : f64, smith.low = -2.000000e+01 : f64, weir.input = "x16"}, %arg2: tensor<24x4xui8> {smith.high = 2.560000e+02 : f64, smith.low = 0.000000e+00 : f64, weir.input = "x24"}, %arg3: tensor<120xi32> {smith.high = 8.000000e+00 : f64, smith.low = 0.000000e+00 : f64, weir.input = "x27", weir.limit = 8 : i64}) -> (tensor<f32> {weir.output = "grad_norm", weir.part = "scalar"}) {
    %0 = weir.read @p5 : tensor<f32>
    %1 = weir.read @p3 : tensor<2xf32>
    %2 = weir.read @p1 : tensor<2xf32>
    %3 = weir.constant 1.000000e+00 : f32 -> tensor<f32>
    %4 = weir.microbatches 3 sliced(%arg0, %arg1, %arg2, %arg3) carried() : (tensor<48xf32>, tensor<9xi32>, tensor<24x4xui8>, tensor<120xi32>) -> tensor<f32> {
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<16xf32>, %arg6: tensor<3xi32>, %arg7: tensor<8x4xui8>, %arg8: tensor<40xi32>):
      %7 = weir.broadcast %0 {dimensions = array<i64>} : tensor<f32> -> tensor<1xf32>
      %8 = weir.concat %1, %7, %2 {dimension = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32> -> tensor<5xf32>
      %9 = weir.constant 5.000000e-01 : f32 -> tensor<5xf32>
      %10 = weir.mul %8, %9 : tensor<5xf32>
      %normalized, %mean, %rstd = weir.normalize %10 {eps = 1.000000e-02 : f64} : tensor<5xf32> -> tensor<f32>
      %11 = weir.tanh %rstd : tensor<f32>
      %12 = weir.mul %normalized, %normalized : tensor<5xf32>
      %13 = weir.reduce sum %12 {axes = array<i64: 0>} : tensor<5xf32> -> tensor<f32>
      %14 = weir.add %13, %11 : tensor<f32>
      weir.yield %14 : tensor<f32>
    }
    %5 = weir.loss [1.000000e+00] sums(%4) counts(%3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %6 = weir.gradient %5 wrt(%0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %6 : tensor<f32>
  }
}
