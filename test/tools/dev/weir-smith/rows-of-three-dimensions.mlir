// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// A row kernel whose rows are indices in three dimensions.
module attributes {smith.seed = 106000 : i64, weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  weir.variable run @"run/seed" : tensor<i32>
  weir.variable run @"run/step" : tensor<i32>
  weir.variable run @"run/total_steps" : tensor<i32>
  func.func @step(%x: tensor<2x5x7x3xf32>, %l: tensor<2x5x7xi32> {smith.high = 3.0 : f64}) -> (tensor<2x5x7xf32> {weir.output = "loss", weir.part = "tensor"}) {
    %loss, %log_sum_exp = weir.softmax_cross_entropy %x, %l : tensor<2x5x7x3xf32>, tensor<2x5x7xi32> -> tensor<2x5x7xf32>
    return %loss : tensor<2x5x7xf32>
  }
}
