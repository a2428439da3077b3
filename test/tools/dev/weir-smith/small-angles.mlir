// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// A sine of a small negative angle has as many digits as one of a positive angle.
module attributes {smith.seed = 3 : i64, weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  weir.variable run @"run/seed" : tensor<i32>
  weir.variable run @"run/step" : tensor<i32>
  weir.variable run @"run/total_steps" : tensor<i32>
  func.func @step(%x: tensor<33xf32> {smith.low = -1.0e-4 : f64, smith.high = 1.0e-4 : f64}) -> (tensor<33xf32> {weir.output = "sines", weir.part = "tensor"}) {
    %y = weir.sin %x : tensor<33xf32>
    return %y : tensor<33xf32>
  }
}
