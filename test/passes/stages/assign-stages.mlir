// RUN: weir-opt --weir-strategy="mesh=pp=2" --weir-assign-stages %s | FileCheck %s

// CHECK: weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<8x8xf32>
weir.variable parameter @w0 : tensor<8x8xf32>
// CHECK: weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<8x8xf32>
weir.variable parameter @w1 : tensor<8x8xf32>
// CHECK: weir.variable optimizer @"momentum/w1" {weir.stage = 1 : i64} : tensor<8x8xf32>
weir.variable optimizer @"momentum/w1" : tensor<8x8xf32>
// CHECK: weir.variable run @"run/step" : tensor<i32>
weir.variable run @"run/step" : tensor<i32>

// Each stage has a product; what depends on no parameter is on all.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // CHECK: weir.read @w0 {weir.stage = 0 : i64}
  %w0 = weir.read @w0 : tensor<8x8xf32>
  // CHECK: weir.read @w1 {weir.stage = 1 : i64}
  %w1 = weir.read @w1 : tensor<8x8xf32>
  // CHECK: weir.neg %{{.*}} : tensor<4x8xf32>
  %n = weir.neg %x : tensor<4x8xf32>
  // CHECK: weir.matmul {{.*}}weir.stage = 0 : i64
  %h = weir.matmul %n, %w0 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: weir.matmul {{.*}}weir.stage = 1 : i64
  %y = weir.matmul %h, %w1 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: weir.reduce {{.*}}weir.stage = 1 : i64
  %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x8xf32> -> tensor<f32>
  %g = weir.gradient %s wrt(%w0) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %g : tensor<8x8xf32>
}
