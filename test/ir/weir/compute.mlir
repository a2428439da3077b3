// RUN: weir-opt %s | weir-opt | FileCheck %s

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<2x3x4xf32>, %i: tensor<2x3xi32>) {
  // CHECK: weir.reduce sum %{{.*}} {accumulate = f32, axes = array<i64: 0, 2>} : tensor<2x3x4xf32> -> tensor<3xf32>
  weir.reduce sum %x {axes = array<i64: 0, 2>, accumulate = f32} : tensor<2x3x4xf32> -> tensor<3xf32>
  // CHECK: weir.reduce sum %{{.*}} {accumulate = f16, axes = array<i64: 0, 2>} : tensor<2x3x4xf32> -> tensor<3xf32>
  weir.reduce sum %x {axes = array<i64: 0, 2>, accumulate = f16} : tensor<2x3x4xf32> -> tensor<3xf32>
  // CHECK: weir.reduce max %{{.*}} {axes = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x4xf32>
  weir.reduce max %x {axes = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x4xf32>
  // CHECK: weir.reduce min %{{.*}} {axes = array<i64: 0, 1>} : tensor<2x3xi32> -> tensor<i32>
  weir.reduce min %i {axes = array<i64: 0, 1>} : tensor<2x3xi32> -> tensor<i32>
  // CHECK: weir.argmax %{{.*}} {axis = 1 : i64} : tensor<2x3x4xf32> -> tensor<2x4xi32>
  weir.argmax %x {axis = 1 : i64} : tensor<2x3x4xf32> -> tensor<2x4xi32>
  return
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %bt: tensor<4x3xf32>, %x: tensor<1x2x5x5xf32>,
                    %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // CHECK: weir.matmul %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  weir.matmul %a, %b : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  // CHECK: weir.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
  weir.matmul %a, %bt {transpose_rhs} : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
  // CHECK: weir.convolution %{{.*}}, %{{.*}} {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
  weir.convolution %x, %w {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  // CHECK: weir.convolution_input_grad %{{.*}}, %{{.*}} {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
  weir.convolution_input_grad %g, %w {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : tensor<1x3x3x3xf32>, tensor<3x2x3x3xf32> -> tensor<1x2x5x5xf32>
  // CHECK: weir.convolution_weight_grad %{{.*}}, %{{.*}} {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
  weir.convolution_weight_grad %x, %g {padding = array<i64: 1, 1>, strides = array<i64: 2, 2>}
    : tensor<1x2x5x5xf32>, tensor<1x3x3x3xf32> -> tensor<3x2x3x3xf32>
  return
}

// CHECK-LABEL: @pools
func.func @pools(%x: tensor<1x5x5xf32>, %g: tensor<1x2x2xf32>) {
  // CHECK: weir.max_pool %{{.*}} {strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : tensor<1x5x5xf32> -> tensor<1x2x2xf32>
  weir.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>} : tensor<1x5x5xf32> -> tensor<1x2x2xf32>
  // CHECK: weir.max_pool_grad %{{.*}}, %{{.*}} {strides = array<i64: 2, 2>, window = array<i64: 3, 3>}
  weir.max_pool_grad %x, %g {window = array<i64: 3, 3>, strides = array<i64: 2, 2>}
    : tensor<1x5x5xf32>, tensor<1x2x2xf32> -> tensor<1x5x5xf32>
  return
}

// CHECK-LABEL: @composites
func.func @composites(%x: tensor<2x3xf32>, %r: tensor<2xf32>, %l: tensor<2xi32>) {
  // CHECK: weir.normalize %{{.*}} {eps = 1.000000e-05 : f64} : tensor<2x3xf32> -> tensor<2xf32>
  weir.normalize %x {eps = 1.0e-5 : f64} : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: weir.normalize_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2xf32>
  weir.normalize_grad %x, %r, %r, %x : tensor<2x3xf32>, tensor<2xf32>
  // CHECK: weir.log_softmax %{{.*}} : tensor<2x3xf32>
  weir.log_softmax %x : tensor<2x3xf32>
  // CHECK: weir.softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2xi32> -> tensor<2xf32>
  weir.softmax_cross_entropy %x, %l : tensor<2x3xf32>, tensor<2xi32> -> tensor<2xf32>
  // CHECK: weir.softmax_cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2xi32>, tensor<2xf32>
  weir.softmax_cross_entropy_grad %x, %l, %r, %r : tensor<2x3xf32>, tensor<2xi32>, tensor<2xf32>
  return
}

// CHECK-LABEL: @attention
func.func @attention(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %l: tensor<1x2x3xf32>) {
  // CHECK: weir.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 5.000000e-01 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3xf32>
  weir.attention %q, %k, %k {causal, scale = 0.5 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3xf32>
  // CHECK: weir.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64}
  weir.attention_grad %q, %k, %k, %q, %l, %q {scale = 0.5 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x3xf32>
  return
}

// CHECK-LABEL: @random
func.func @random(%s: tensor<i32>) {
  // CHECK: weir.random normal seed %{{.*}} step %{{.*}} round %{{.*}} {key = 42 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  weir.random normal seed %s step %s round %s {key = 42 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: weir.random uniform seed
  weir.random uniform seed %s step %s round %s {key = -1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  // CHECK: weir.random uniform seed %{{.*}} step %{{.*}} round %{{.*}} {key = -1 : i64, word = 3 : i64}
  weir.random uniform seed %s step %s round %s {key = -1 : i64, word = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  return
}
