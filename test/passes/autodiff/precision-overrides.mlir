// RUN: weir-opt --weir-autodiff %s | FileCheck %s

// The gradients of a pinned op are pinned as it is; what is no product or composite is not.
// CHECK-LABEL: func @pinned
func.func @pinned(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = weir.matmul %x, %w {weir.pin = "f32"} : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  %n, %mean, %rstd = weir.normalize %y {eps = 1.0e-5 : f64, weir.pin = "bf16"} : tensor<4x2xf32> -> tensor<4xf32>
  %t = weir.tanh %n : tensor<4x2xf32>
  %loss = weir.reduce sum %t {axes = array<i64: 0, 1>} : tensor<4x2xf32> -> tensor<f32>
  // CHECK: weir.tanh
  // CHECK-NOT: weir.pin
  // CHECK: weir.normalize_grad {{.*}}weir.pin = "bf16"
  // CHECK: weir.matmul {{.*}}weir.pin = "f32"
  %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %g : tensor<3x2xf32>
}
