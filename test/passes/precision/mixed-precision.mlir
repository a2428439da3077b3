// RUN: weir-opt --pass-pipeline="builtin.module(weir-strategy{precision=bf16},weir-mixed-precision)" %s | FileCheck %s
// RUN: weir-opt --pass-pipeline="builtin.module(weir-mixed-precision)" %s | FileCheck %s --check-prefix=F32


// F32-NOT: bf16

// Operands are rounded where they are defined, the result behind the bias that follows it alone, and that bias.
// CHECK-LABEL: func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<6xf32>)
func.func @linear(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-DAG: %[[XL:.*]] = weir.cast %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK-DAG: %[[WL:.*]] = weir.cast %[[W]] : tensor<8x6xf32> -> tensor<8x6xbf16>
  // CHECK-DAG: %[[BL:.*]] = weir.cast %[[B]] : tensor<6xf32> -> tensor<6xbf16>
  // CHECK: %[[Y:.*]] = weir.matmul %[[XL]], %[[WL]] : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xf32>
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %bias = weir.broadcast %b {dimensions = array<i64: 1>} : tensor<6xf32> -> tensor<4x6xf32>
  // CHECK: %[[SPREAD:.*]] = weir.broadcast %[[BL]]
  // CHECK: %[[BIAS:.*]] = weir.cast %[[SPREAD]] : tensor<4x6xbf16> -> tensor<4x6xf32>
  // CHECK: %[[Z:.*]] = weir.add %[[Y]], %[[BIAS]]
  %z = weir.add %y, %bias : tensor<4x6xf32>
  // CHECK: %[[ZL:.*]] = weir.cast %[[Z]] : tensor<4x6xf32> -> tensor<4x6xbf16>
  // CHECK: %[[R:.*]] = weir.cast %[[ZL]] : tensor<4x6xbf16> -> tensor<4x6xf32>
  // CHECK: return %[[R]]
  return %z : tensor<4x6xf32>
}

// A parameter is cast once, whatever uses it, and what moves its elements moves low ones.
// CHECK-LABEL: func @twice
func.func @twice(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[WL:.*]] = weir.cast %arg1 : tensor<4x4xf32> -> tensor<4x4xbf16>
  // CHECK-NOT: weir.cast %arg1
  %t = weir.transpose %w {permutation = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: %[[T:.*]] = weir.transpose %[[WL]] {{.*}}bf16
  %y = weir.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: weir.matmul {{.*}}, %[[T]]
  %z = weir.matmul %y, %t : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// A gradient leaves its product in f32, and the optimizer's products are as they were.
// CHECK-LABEL: func @gradient
func.func @gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<f32>) {
  // CHECK: %[[W:.*]] = weir.matmul {{.*}} {transpose_lhs} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
  %w = weir.matmul %x, %g {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK-NEXT: weir.clip(%[[W]])
  %norm = weir.clip (%w) : (tensor<8x8xf32>) -> tensor<f32>
  // CHECK-NEXT: weir.matmul %[[W]], %[[W]] : tensor<8x8xf32>
  %next = weir.matmul %w, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK-NEXT: return
  return %next, %norm : tensor<8x8xf32>, tensor<f32>
}

// A gradient that another one is computed from, as a normalisation's bias has, makes no optimizer of what is behind it; a product
// of what optimizers keep belongs to it, whether it sees a gradient or not.
weir.variable optimizer @kept : tensor<4x4xf32>
// CHECK-LABEL: func @shared_gradient
func.func @shared_gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<f32> {
  %bias = weir.reduce sum %g {axes = array<i64: 0>} : tensor<4x8xf32> -> tensor<8xf32>
  %spread = weir.broadcast %bias {dimensions = array<i64: 1>} : tensor<8xf32> -> tensor<4x8xf32>
  %h = weir.sub %g, %spread : tensor<4x8xf32>
  // CHECK: weir.matmul {{.*}} {transpose_lhs} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
  %w = weir.matmul %x, %h {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %norm = weir.clip (%bias, %w) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %kept = weir.read @kept : tensor<4x4xf32>
  // CHECK: weir.matmul {{.*}} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %next = weir.matmul %kept, %kept : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  weir.write @kept, %next : tensor<4x4xf32>
  return %norm : tensor<f32>
}

// A composite reads what there is; its gradient, and what else the backward computation wants of it, what was kept: the rounded.
// CHECK-LABEL: func @composite
func.func @composite(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> (tensor<4x2x4xf32>, tensor<f32>) {
  // CHECK: %[[L:.*]] = weir.cast %arg0 : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[X:.*]] = weir.cast %[[L]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = weir.normalize %arg0
  // CHECK: %[[CENTRED:.*]] = weir.sub %[[X]]
  // CHECK: %[[AGAIN:.*]] = weir.mul %[[CENTRED]]
  // CHECK: %[[MOVED:.*]] = weir.split_dim %[[AGAIN]]
  %y, %mean, %rstd = weir.normalize %x {eps = 1.0e-5 : f64} : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: %[[OUT:.*]] = weir.split_dim %[[Y]]
  %z = weir.split_dim %y {dimension = 1 : i64, sizes = array<i64: 2, 4>} : tensor<4x8xf32> -> tensor<4x2x4xf32>
  // CHECK: weir.normalize_grad %[[X]], %[[MEAN]], %[[RSTD]], %arg1
  %d = weir.normalize_grad %x, %mean, %rstd, %g : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: %[[GAIN:.*]] = weir.mul %{{.*}}, %[[MOVED]]
  %e = weir.split_dim %d {dimension = 1 : i64, sizes = array<i64: 2, 4>} : tensor<4x8xf32> -> tensor<4x2x4xf32>
  %gain = weir.mul %e, %z : tensor<4x2x4xf32>
  // CHECK: weir.clip(%[[GAIN]])
  %norm = weir.clip (%gain) : (tensor<4x2x4xf32>) -> tensor<f32>
  // CHECK: return %[[OUT]]
  return %z, %norm : tensor<4x2x4xf32>, tensor<f32>
}

// In the rounds of microbatches too.
// CHECK-LABEL: func @microbatched
func.func @microbatched(%batch: tensor<8x8xf32>) -> (tensor<f32>, tensor<f32>) {
  %sum, %gradient = weir.microbatches 2 sliced(%batch) carried() : (tensor<8x8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  ^bb0(%round: tensor<i32>, %x: tensor<4x8xf32>):
    // CHECK: %[[L:.*]] = weir.cast %[[X:.*]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = weir.normalize %[[X]]
    // CHECK: %[[AGAIN:.*]] = weir.mul
    %y, %mean, %rstd = weir.normalize %x {eps = 1.0e-5 : f64} : tensor<4x8xf32> -> tensor<4xf32>
    // CHECK: weir.reduce sum %[[Y]]
    %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x8xf32> -> tensor<f32>
    // CHECK: %[[D:.*]] = weir.normalize_grad
    %d = weir.normalize_grad %x, %mean, %rstd, %x : tensor<4x8xf32>, tensor<4xf32>
    // CHECK-NEXT: weir.mul %[[D]], %[[AGAIN]]
    %p = weir.mul %d, %y : tensor<4x8xf32>
    %gain = weir.reduce sum %p {axes = array<i64: 0>} : tensor<4x8xf32> -> tensor<8xf32>
    weir.yield %s, %gain : tensor<f32>, tensor<8xf32>
  }
  %norm = weir.clip (%gradient) : (tensor<8xf32>) -> tensor<f32>
  return %sum, %norm : tensor<f32>, tensor<f32>
}

// A cotangent that is rounded for a product, and else only summed, is summed as it was rounded.
// CHECK-LABEL: func @sums
func.func @sums(%x: tensor<4x8xf32>, %g: tensor<4x6xf32>) -> tensor<f32> {
  %e = weir.exp %g : tensor<4x6xf32>
  %d = weir.matmul %x, %e {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  // CHECK: %[[E:.*]] = weir.cast %{{.*}} : tensor<4x6xbf16> -> tensor<4x6xf32>
  // CHECK: weir.reduce sum %[[E]]
  %s = weir.reduce sum %e {axes = array<i64: 0>} : tensor<4x6xf32> -> tensor<6xf32>
  %norm = weir.clip (%d, %s) : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<f32>
  return %norm : tensor<f32>
}

// Not so a value of the forward computation: in a step its gradient uses it too, in evaluation not, and both have the same numbers.
// CHECK-LABEL: func @forward_sums
func.func @forward_sums(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<8xf32>) {
  // CHECK: %[[E:.*]] = weir.exp
  // CHECK: weir.reduce sum %[[E]]
  %e = weir.exp %x : tensor<4x8xf32>
  %y = weir.matmul %e, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %s = weir.reduce sum %e {axes = array<i64: 0>} : tensor<4x8xf32> -> tensor<8xf32>
  return %y, %s : tensor<4x6xf32>, tensor<8xf32>
}

// A convolution of low precision gives f32, as a product does.
// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32> {
  // CHECK: weir.convolution {{.*}} : tensor<1x2x4x4xbf16>, tensor<3x2x3x3xbf16> -> tensor<1x3x2x2xf32>
  %y = weir.convolution %x, %w {padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x2x2xf32>
  return %y : tensor<1x3x2x2xf32>
}

// The bias is added behind what moves every element once; an activation is rounded past.
// CHECK-LABEL: func @bias_behind_a_view
func.func @bias_behind_a_view(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<2x2x6xf32> {
  // CHECK: %[[Y:.*]] = weir.matmul
  // CHECK-NEXT: %[[S:.*]] = weir.split_dim %[[Y]]
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %s = weir.split_dim %y {dimension = 0 : i64, sizes = array<i64: 2, 2>} : tensor<4x6xf32> -> tensor<2x2x6xf32>
  %bias = weir.broadcast %b {dimensions = array<i64: 2>} : tensor<6xf32> -> tensor<2x2x6xf32>
  // CHECK: %[[Z:.*]] = weir.add %[[S]]
  // CHECK-NEXT: %[[ZL:.*]] = weir.cast %[[Z]] : tensor<2x2x6xf32> -> tensor<2x2x6xbf16>
  // CHECK-NEXT: %[[ZW:.*]] = weir.cast %[[ZL]]
  // CHECK-NEXT: weir.tanh %[[ZW]]
  %z = weir.add %s, %bias : tensor<2x2x6xf32>
  %t = weir.tanh %z : tensor<2x2x6xf32>
  return %t : tensor<2x2x6xf32>
}

// A composite of another one's statistics is no gradient of it.
// CHECK-LABEL: func @composite_of_statistics
func.func @composite_of_statistics(%x: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>) {
  // CHECK-NEXT: weir.normalize %arg0
  %y, %mean, %rstd = weir.normalize %x {eps = 1.0e-5 : f64} : tensor<5x3xf32> -> tensor<5xf32>
  // CHECK-NEXT: weir.log_softmax
  %z = weir.log_softmax %mean : tensor<5xf32>
  // CHECK-NEXT: return
  return %y, %z : tensor<5x3xf32>, tensor<5xf32>
}

// Of a parameter that two products have a slice each of, and of one that a batch shares: nothing on the way to the gradient is rounded.
// CHECK-LABEL: func @gradients_of_slices
func.func @gradients_of_slices(%x: tensor<5x4x8xf32>, %g: tensor<5x4x3xf32>, %h: tensor<5x4x3xf32>) -> tensor<f32> {
  // CHECK: %[[D:.*]] = weir.matmul {{.*}} -> tensor<5x8x3xf32>
  // CHECK-NEXT: %[[S:.*]] = weir.reduce sum %[[D]]
  // CHECK-NEXT: %[[P:.*]] = weir.pad %[[S]]
  // CHECK: %[[E:.*]] = weir.matmul {{.*}} -> tensor<5x8x3xf32>
  // CHECK-NEXT: %[[T:.*]] = weir.reduce sum %[[E]]
  // CHECK-NEXT: %[[Q:.*]] = weir.pad %[[T]]
  // CHECK-NEXT: weir.add %[[P]], %[[Q]]
  %d = weir.matmul %x, %g {transpose_lhs} : tensor<5x4x8xf32>, tensor<5x4x3xf32> -> tensor<5x8x3xf32>
  %s = weir.reduce sum %d {axes = array<i64: 0>} : tensor<5x8x3xf32> -> tensor<8x3xf32>
  %p = weir.pad %s {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<8x3xf32> -> tensor<8x6xf32>
  %e = weir.matmul %x, %h {transpose_lhs} : tensor<5x4x8xf32>, tensor<5x4x3xf32> -> tensor<5x8x3xf32>
  %t = weir.reduce sum %e {axes = array<i64: 0>} : tensor<5x8x3xf32> -> tensor<8x3xf32>
  %q = weir.pad %t {offsets = array<i64: 0, 3>, strides = array<i64: 1, 1>} : tensor<8x3xf32> -> tensor<8x6xf32>
  %sum = weir.add %p, %q : tensor<8x6xf32>
  %norm = weir.clip (%sum) : (tensor<8x6xf32>) -> tensor<f32>
  return %norm : tensor<f32>
}

// A bias's gradient sums up the cotangent that a product multiplies too, as that was rounded.
// CHECK-LABEL: func @gradient_of_a_bias
func.func @gradient_of_a_bias(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>, %w: tensor<6x8xf32>) -> tensor<f32> {
  // CHECK: weir.matmul {{.*}} -> tensor<4x8xf32>
  // CHECK-NEXT: weir.cast {{.*}} -> tensor<4x8xbf16>
  // CHECK-NEXT: %[[C:.*]] = weir.cast {{.*}} -> tensor<4x8xf32>
  // CHECK: weir.reduce sum %[[C]]
  %c = weir.matmul %y, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %b = weir.reduce sum %c {axes = array<i64: 0>} : tensor<4x8xf32> -> tensor<8xf32>
  %d = weir.matmul %x, %c {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %norm = weir.clip (%b, %d) : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<f32>
  return %norm : tensor<f32>
}
