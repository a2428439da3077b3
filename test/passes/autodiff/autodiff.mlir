// RUN: weir-opt --weir-autodiff --weir-verify-differentiated --weir-simplify %s | FileCheck %s

// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x2xf32>)
func.func @chain(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = weir.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  // CHECK: %[[T:.*]] = weir.tanh
  %t = weir.tanh %y : tensor<4x2xf32>
  %loss = weir.reduce sum %t {axes = array<i64: 0, 1>} : tensor<4x2xf32> -> tensor<f32>
  // CHECK: %[[S:.*]] = weir.mul %[[T]], %[[T]]
  // CHECK: %[[D:.*]] = weir.sub %{{.*}}, %[[S]]
  // CHECK: %[[G:.*]] = weir.matmul %[[X]], %{{.*}} {transpose_lhs
  // CHECK-NEXT: return %[[G]]
  %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %g : tensor<3x2xf32>
}

// The last use's cotangent comes first in the sum.
// CHECK-LABEL: func @fan_out
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
func.func @fan_out(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[E:.*]] = weir.exp %[[X]]
  %e = weir.exp %x : tensor<f32>
  // CHECK-NEXT: %[[C:.*]] = weir.cos %[[X]]
  %s = weir.sin %x : tensor<f32>
  %loss = weir.add %e, %s : tensor<f32>
  // CHECK-NEXT: weir.add %[[C]], %[[E]]
  %g = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// CHECK-LABEL: func @unreachable
func.func @unreachable(%x: tensor<f32>, %y: tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  // CHECK-DAG: %[[ONE:.*]] = weir.constant 1.0{{.*}} -> tensor<f32>
  // CHECK-DAG: %[[ZERO:.*]] = weir.constant 0.0{{.*}} -> tensor<5xf32>
  // CHECK: return %[[ONE]], %[[ZERO]]
  %g:2 = weir.gradient %x wrt (%x, %y) : (tensor<f32>, tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>)
  return %g#0, %g#1 : tensor<f32>, tensor<5xf32>
}

// CHECK-LABEL: func @stopped
func.func @stopped(%x: tensor<f32>) -> tensor<f32> {
  %i = weir.cast %x : tensor<f32> -> tensor<i32>
  %f = weir.cast %i : tensor<i32> -> tensor<f32>
  %s = weir.stop_gradient %x : tensor<f32>
  %loss = weir.mul %f, %s : tensor<f32>
  // CHECK: %[[ZERO:.*]] = weir.constant 0.0
  // CHECK-NEXT: return %[[ZERO]]
  %g = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// Only what is differentiated gets a gradient: no scatter into the table, no product for the input.
// CHECK-LABEL: func @inactive
// CHECK-NOT: segment_sum
// CHECK: return
func.func @inactive(%table: tensor<7x3xf32>, %i: tensor<4xi32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %r = weir.gather %table, %i : tensor<7x3xf32>, tensor<4xi32> -> tensor<4x3xf32>
  %bb = weir.broadcast %b {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<4x3xf32>
  %p = weir.mul %r, %bb : tensor<4x3xf32>
  %loss = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<4x3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt (%b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// The loss is inside, the weight and what is computed from it outside: the whole chain is differentiated inside.
// CHECK-LABEL: func @microbatches
// CHECK-SAME: (%[[W:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<4x3xf32>)
func.func @microbatches(%w: tensor<3xf32>, %x: tensor<4x3xf32>) -> tensor<3xf32> {
  // CHECK: %[[E:.*]] = weir.exp %[[W]]
  %e = weir.exp %w : tensor<3xf32>
  // CHECK: weir.microbatches
  %sum = weir.microbatches 2 sliced(%x) carried() : (tensor<4x3xf32>) -> tensor<3xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x3xf32>):
    %b = weir.broadcast %e {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<2x3xf32>
    %p = weir.mul %part, %b : tensor<2x3xf32>
    %loss = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<f32>
    // CHECK: %[[S:.*]] = weir.reduce sum
    // CHECK-NEXT: %[[G:.*]] = weir.mul %[[S]], %[[E]]
    // CHECK-NEXT: weir.yield %[[G]]
    %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
    weir.yield %g : tensor<3xf32>
  }
  return %sum : tensor<3xf32>
}

// A gradient of a gradient: x^2's is 2 x's is 2.
// CHECK-LABEL: func @twice
func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %y = weir.mul %x, %x : tensor<f32>
  %g = weir.gradient %y wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NOT: weir.gradient
  %h = weir.gradient %g wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %h : tensor<f32>
}

// A gradient is computed and summed in the types of the op it is of.
// CHECK-LABEL: func @types
func.func @types(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: weir.matmul %{{.*}}, %{{.*}} {accumulate = f16
  %y = weir.matmul %x, %w {accumulate = f16} : tensor<4x3xf32>, tensor<3x2xf32> -> tensor<4x2xf32>
  // CHECK: %[[T:.*]] = weir.tanh %{{.*}} {compute = bf16
  %t = weir.tanh %y {compute = bf16} : tensor<4x2xf32>
  %loss = weir.reduce sum %t {axes = array<i64: 0, 1>, accumulate = bf16} : tensor<4x2xf32> -> tensor<f32>
  // CHECK: weir.mul %[[T]], %[[T]] {compute = bf16
  // CHECK: weir.sub %{{.*}}, %{{.*}} {compute = bf16
  // CHECK: weir.matmul %{{.*}}, %{{.*}} {accumulate = f16, transpose_lhs
  %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %g : tensor<3x2xf32>
}
