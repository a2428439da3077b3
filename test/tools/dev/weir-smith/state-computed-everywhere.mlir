// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// The first stage owns a state whose next value every stage computes: the other stage carries none.
module attributes {smith.offload, smith.room = 3.000000e-01 : f64, smith.seed = 96000951001 : i64, smith.strategy = #weir.strategy<"mesh=pp=2,dp=2 zero=0 schedule=1f1b">, weir.accumulate = 2 : i64, weir.batch = 1 : i64, weir.configs = {}, weir.epochs = 0 : i64, weir.model = "smith", weir.steps = 1 : i64} {
  weir.variable run @"run/seed" {smith.high = 0x4130000000000000 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/step" {smith.high = 3.000000e+01 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/total_steps" {smith.high = 1.000000e+02 : f64, smith.low = 5.000000e+01 : f64} : tensor<i32>
  weir.variable state @s1 on host {smith.high = 9.000000e+00 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable parameter @p4 on host {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<f32>
  weir.variable state @s10 on host {smith.high = 9.000000e+00 : f64, smith.low = 0.000000e+00 : f64} : tensor<9xi32>
  weir.variable parameter @p22 on host {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2x3x6x8xf32>
  weir.variable optimizer @"momentum.m/p22" on host {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<2x3x6x8xf32>
  func.func @step(%arg0: tensor<i32> {smith.high = 9.000000e+00 : f64, smith.low = 0.000000e+00 : f64, weir.input = "x12", weir.limit = 9 : i64}, %arg1: tensor<4x3x7x8xf32> {smith.high = 2.000000e+00 : f64, smith.low = -2.000000e+00 : f64, weir.input = "x15"}, %arg2: tensor<8x2x4xf32> {smith.high = 2.000000e+00 : f64, smith.low = -2.000000e+00 : f64, weir.input = "x27"}) {
    %0 = weir.read @"momentum.m/p22" : tensor<2x3x6x8xf32>
    %1 = weir.read @s10 : tensor<9xi32>
    %2 = weir.read @s1 : tensor<i32>
    %3 = weir.read @p22 : tensor<2x3x6x8xf32>
    %4 = weir.read @p4 : tensor<f32>
    %5 = weir.constant 1.000000e+00 : f32 -> tensor<f32>
    %6:3 = weir.microbatches 2 sliced(%arg1, %arg2) carried(%2, %1) : (tensor<4x3x7x8xf32>, tensor<8x2x4xf32>, tensor<i32>, tensor<9xi32>) -> (tensor<f32>, tensor<i32>, tensor<9xi32>) {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<2x3x7x8xf32>, %arg5: tensor<4x2x4xf32>, %arg6: tensor<i32>, %arg7: tensor<9xi32>):
      %11 = weir.gather %arg7, %arg0 : tensor<9xi32>, tensor<i32> -> tensor<i32>
      weir.yield %4, %11, %arg7 : tensor<f32>, tensor<i32>, tensor<9xi32>
    }
    %7 = weir.loss [2.500000e-01] sums(%6#0) counts(%5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %8 = weir.gradient %7 wrt(%4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %9 = weir.constant 1.250000e-01 : f32 -> tensor<f32>
    %10 = weir.all_finite %7, %8, %9, %4, %0, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>
    weir.write @s1, %6#1 if %10 : tensor<i32>
    return
  }
}
