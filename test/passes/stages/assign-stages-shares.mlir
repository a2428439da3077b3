// RUN: weir-opt --weir-strategy="mesh=pp=3:1" --weir-assign-stages %s | FileCheck %s
// RUN: weir-opt --weir-strategy="mesh=pp=1:3" --weir-assign-stages %s | FileCheck %s --check-prefix=LATE

// Of four products the rank with three of four shares has three.
// CHECK: @w2 {weir.stage = 0 : i64}
// CHECK: @w3 {weir.stage = 1 : i64}
// LATE: @w0 {weir.stage = 0 : i64}
// LATE: @w1 {weir.stage = 1 : i64}
weir.variable parameter @w0 : tensor<8x8xf32>
weir.variable parameter @w1 : tensor<8x8xf32>
weir.variable parameter @w2 : tensor<8x8xf32>
weir.variable parameter @w3 : tensor<8x8xf32>

func.func @step(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %w0 = weir.read @w0 : tensor<8x8xf32>
  %w1 = weir.read @w1 : tensor<8x8xf32>
  %w2 = weir.read @w2 : tensor<8x8xf32>
  %w3 = weir.read @w3 : tensor<8x8xf32>
  %a = weir.matmul %x, %w0 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b = weir.matmul %a, %w1 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %c = weir.matmul %b, %w2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %d = weir.matmul %c, %w3 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %s = weir.reduce sum %d {axes = array<i64: 0, 1>} : tensor<4x8xf32> -> tensor<f32>
  %g = weir.gradient %s wrt(%w0) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g : tensor<8x8xf32>
}
