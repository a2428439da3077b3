// RUN: weir-opt --split-input-file --weir-strategy="precision=f8" --weir-mixed-precision %s | FileCheck %s
// RUN: weir-opt --split-input-file --weir-strategy="precision=bf16" --weir-mixed-precision %s | FileCheck %s --check-prefix=BF16
// BF16-NOT: f8E

// A factor is rounded to bf16, then under a scale of its own to eight bits, which nothing in it is too large for, and is bf16 again; a view moves what was rounded.
// CHECK-LABEL: func @factors
func.func @factors(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[L:.*]] = weir.cast %arg1 : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[V:.*]] = weir.cast %[[L]] : tensor<4x8xbf16> -> tensor<4x8xf32>
  // CHECK: %[[A:.*]] = weir.abs %[[V]]
  // CHECK: %[[M:.*]] = weir.reduce max %[[A]] {axes = array<i64: 0, 1>} : tensor<4x8xf32> -> tensor<f32>
  // CHECK: %[[H:.*]] = weir.constant 4.480000e+02 : f32
  // CHECK: %[[B:.*]] = weir.max %[[M]]
  // CHECK: %[[T:.*]] = weir.div %[[H]], %[[B]]
  // CHECK: weir.power_of_two %[[T]]
  // CHECK: %[[S:.*]] = weir.select
  // CHECK: %[[I:.*]] = weir.div %{{.*}}, %[[S]]
  // CHECK: %[[C:.*]] = weir.mul %[[V]]
  // CHECK-NEXT: %[[Q:.*]] = weir.cast %[[C]] : tensor<4x8xf32> -> tensor<4x8xf8E4M3FN>
  // CHECK: %[[W:.*]] = weir.cast %[[Q]] : tensor<4x8xf8E4M3FN> -> tensor<4x8xf32>
  // CHECK: %[[D:.*]] = weir.mul %[[W]]
  // CHECK: %[[R:.*]] = weir.cast %[[D]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[P:.*]] = weir.transpose %[[R]]
  %t = weir.transpose %w {permutation = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: weir.matmul %{{.*}}, %[[P]] : tensor<4x8xbf16>, tensor<8x4xbf16> -> tensor<4x4xf32>
  %y = weir.matmul %x, %t : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// What only a gradient is computed from has the range of f8E5M2; what both computations multiply is rounded as the forward one does.
// CHECK-LABEL: func @backward
func.func @backward(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %g: tensor<4x3xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  // CHECK-DAG: -> tensor<4x8xf8E4M3FN>
  // CHECK-DAG: -> tensor<8x6xf8E4M3FN>
  // CHECK-DAG: -> tensor<4x3xf8E5M2>
  // CHECK-NOT: -> tensor<4x8xf8
  // CHECK: return
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %d = weir.matmul %x, %g {transpose_lhs} : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  %norm = weir.clip (%d) : (tensor<8x3xf32>) -> tensor<f32>
  return %y, %norm : tensor<4x6xf32>, tensor<f32>
}

// -----

// Attention reads bf16, and so does what is pinned to it.
// CHECK-LABEL: func @left_out
func.func @left_out(%q: tensor<1x1x4x8xf32>, %x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<1x1x4x8xf32>, tensor<4x8xf32>) {
  %a, %l = weir.attention %q, %q, %q {scale = 0.5 : f64} : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32> -> tensor<1x1x4xf32>
  %y = weir.matmul %x, %w {weir.pin = "bf16"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK-NOT: f8E
  // CHECK: return
  return %a, %y : tensor<1x1x4x8xf32>, tensor<4x8xf32>
}

// -----

// A scalar that is spread is rounded as one.
weir.variable run @"run/step" : tensor<i32>
// CHECK-LABEL: func @step
func.func @step(%x: tensor<f32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: weir.cast {{.*}} : tensor<f32> -> tensor<f8E4M3FN>
  // CHECK: weir.broadcast {{.*}} : tensor<bf16> -> tensor<4x8xbf16>
  %all = weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<4x8xf32>
  %y = weir.matmul %all, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A step takes the scales of the steps before it: a row for each tensor, and what it has seen itself in the column of its number. It
// is written under the condition of the other writes. In microbatches tensors have scales of their own.
weir.variable run @"run/step" : tensor<i32>
weir.variable parameter @w : tensor<8x8xf32>
// CHECK: weir.variable optimizer @"f8/amax" : tensor<2x16xf32>
// CHECK-LABEL: func @init
func.func @init() {
  // CHECK: weir.write @"f8/amax", %{{.*}} : tensor<2x16xf32>
  return
}
// CHECK-LABEL: func @step
func.func @step(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>) {
  // CHECK: %[[B:.*]] = weir.read @"f8/amax" : tensor<2x16xf32>
  // CHECK: %[[M:.*]] = weir.reduce max %[[B]] {axes = array<i64: 1>} : tensor<2x16xf32> -> tensor<2xf32>
  // CHECK: weir.constant 4.480000e+02
  // CHECK: weir.constant 1.600000e+01
  // CHECK: %[[S:.*]] = weir.select {{.*}} tensor<2xf32>
  // CHECK: weir.reduce max %{{.*}} {axes = array<i64: 0, 1>} : tensor<8x8xf32> -> tensor<f32>
  // CHECK: weir.slice %[[S]] {{.*}} -> tensor<1xf32>
  // It may be larger than all that was seen before; what is not finite stays so.
  // CHECK: weir.min
  // CHECK: %[[C:.*]] = weir.max
  // CHECK: weir.cast %[[C]] : tensor<8x8xf32> -> tensor<8x8xf8E4M3FN>
  // CHECK: weir.select {{.*}} : tensor<8x8xi1>, tensor<8x8xf32>
  // CHECK: weir.microbatches
  // CHECK: weir.matmul
  // CHECK: weir.concat
  // CHECK: %[[N:.*]] = weir.select {{.*}} tensor<2x16xf32>
  // CHECK: weir.write @"f8/amax", %[[N]] if %{{.*}} : tensor<2x16xf32>
  %w = weir.read @w : tensor<8x8xf32>
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %sum = weir.microbatches 2 sliced(%x) carried() : (tensor<4x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x8xf32>):
    %z = weir.matmul %part, %w : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    weir.yield %z : tensor<2x8xf32>
  }
  %finite = weir.all_finite %y : tensor<4x8xf32>
  weir.write @w, %w if %finite : tensor<8x8xf32>
  return %y, %sum : tensor<4x8xf32>, tensor<2x8xf32>
}
