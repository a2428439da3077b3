// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// A convolution with more padding than window, and attention to a constant.
module attributes {smith.seed = 7 : i64, weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  weir.variable run @"run/seed" : tensor<i32>
  weir.variable run @"run/step" : tensor<i32>
  weir.variable run @"run/total_steps" : tensor<i32>
  weir.variable parameter @w : tensor<3x2x1x2xf32>
  weir.variable parameter @k : tensor<1x3x6x9xf32>
  func.func @step(%x: tensor<1x2x4x4xf32> {weir.input = "x"}) -> (tensor<f32> {weir.output = "loss", weir.part = "scalar"}, tensor<3x2x1x2xf32> {weir.output = "gradient/w", weir.part = "tensor"}, tensor<1x3x6x9xf32> {weir.output = "gradient/k", weir.part = "tensor"}) {
    %w = weir.read @w : tensor<3x2x1x2xf32>
    %k = weir.read @k : tensor<1x3x6x9xf32>
    %q = weir.constant 0.25 : f32 -> tensor<1x3x6x9xf32>
    %c = weir.convolution %x, %w {padding = array<i64: 1, 3>, strides = array<i64: 1, 1>} : tensor<1x2x4x4xf32>, tensor<3x2x1x2xf32> -> tensor<1x3x6x9xf32>
    %y, %l = weir.attention %q, %k, %c {scale = 0.5} : tensor<1x3x6x9xf32>, tensor<1x3x6x9xf32> -> tensor<1x3x6xf32>
    %s = weir.mul %y, %y : tensor<1x3x6x9xf32>
    %loss = weir.reduce sum %s {axes = array<i64: 0, 1, 2, 3>} : tensor<1x3x6x9xf32> -> tensor<f32>
    %g:2 = weir.gradient %loss wrt(%w, %k) : (tensor<f32>, tensor<3x2x1x2xf32>, tensor<1x3x6x9xf32>) -> (tensor<3x2x1x2xf32>, tensor<1x3x6x9xf32>)
    return %loss, %g#0, %g#1 : tensor<f32>, tensor<3x2x1x2xf32>, tensor<1x3x6x9xf32>
  }
}
