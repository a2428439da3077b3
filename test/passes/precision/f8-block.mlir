// RUN: weir-opt --split-input-file --weir-strategy="precision=f8_block" --weir-mixed-precision %s | FileCheck %s

// A block is 1 x 128 along what the product sums over; of a dimension that is no longer than that, all of it.
// CHECK-LABEL: func @along_the_sum
func.func @along_the_sum(%x: tensor<4x256xf32>, %y: tensor<256x96xf32>) -> tensor<4x96xf32> {
  // CHECK: %[[Y:.*]] = weir.cast %{{.*}} : tensor<256x96xbf16> -> tensor<256x96xf32>
  // CHECK: %[[B:.*]] = weir.split_dim %[[Y]] {{.*}} : tensor<256x96xf32> -> tensor<2x128x96xf32>
  // CHECK: %[[A:.*]] = weir.abs %[[B]]
  // CHECK: %[[M:.*]] = weir.reduce max %[[A]] {axes = array<i64: 1>} : tensor<2x128x96xf32> -> tensor<2x96xf32>
  // CHECK: weir.power_of_two {{.*}} : tensor<2x96xf32>
  // CHECK: %[[S:.*]] = weir.select {{.*}} tensor<2x96xf32>
  // CHECK: %[[I:.*]] = weir.div %{{.*}}, %[[S]]
  // CHECK: %[[E:.*]] = weir.broadcast %[[S]] {dimensions = array<i64: 0, 2>}
  // CHECK: weir.mul %[[B]], %[[E]]
  // CHECK: %[[Q:.*]] = weir.cast %{{.*}} -> tensor<2x128x96xf8E4M3FN>
  // CHECK: %[[J:.*]] = weir.broadcast %[[I]] {dimensions = array<i64: 0, 2>}
  // CHECK-NEXT: %[[F:.*]] = weir.mul %{{.*}}, %[[J]]
  // CHECK: %[[D:.*]] = weir.merge_dims %[[F]] {{.*}} : tensor<2x128x96xf32> -> tensor<256x96xf32>
  // CHECK: weir.cast %[[D]] : tensor<256x96xf32> -> tensor<256x96xbf16>
  // CHECK: weir.reduce max %{{.*}} {axes = array<i64: 2>} : tensor<4x2x128xf32> -> tensor<4x2xf32>
  // CHECK: weir.matmul %{{.*}} : tensor<4x256xbf16>, tensor<256x96xbf16> -> tensor<4x96xf32>
  %z = weir.matmul %x, %y : tensor<4x256xf32>, tensor<256x96xf32> -> tensor<4x96xf32>
  return %z : tensor<4x96xf32>
}

// -----

// Two products that sum over different dimensions of a tensor multiply different numbers, in f8E4M3FN backward too.
// CHECK-LABEL: func @both_ways
func.func @both_ways(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %g: tensor<4x3xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  // CHECK-DAG: weir.reduce max {{.*}} {axes = array<i64: 1>} : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK-DAG: weir.reduce max {{.*}} {axes = array<i64: 0>} : tensor<4x8xf32> -> tensor<8xf32>
  // CHECK-DAG: weir.cast {{.*}} -> tensor<4x3xf8E4M3FN>
  // CHECK-NOT: f8E5M2
  // CHECK: return
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %d = weir.matmul %x, %g {transpose_lhs} : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
  %norm = weir.clip (%d) : (tensor<8x3xf32>) -> tensor<f32>
  return %y, %norm : tensor<4x6xf32>, tensor<f32>
}

// -----

// A parameter's blocks are square, so that it is rounded once for both products, and for a transpose; what is left over at the ends
// of its dimensions are blocks of their own. A step keeps nothing of scales.
weir.variable run @"run/step" : tensor<i32>
weir.variable parameter @w : tensor<256x130xf32>
// CHECK-NOT: f8/amax
// CHECK-LABEL: func @step
func.func @step(%x: tensor<4x256xf32>, %g: tensor<4x130xf32>) -> (tensor<4x130xf32>, tensor<4x256xf32>, tensor<4x256xf32>) {
  // CHECK: weir.slice %{{.*}} {offsets = array<i64: 0, 0>, {{.*}} -> tensor<256x128xf32>
  // CHECK: weir.split_dim {{.*}} -> tensor<2x128x128xf32>
  // CHECK: weir.reduce max {{.*}} {axes = array<i64: 1, 2>} : tensor<2x128x128xf32> -> tensor<2xf32>
  // CHECK: weir.slice %{{.*}} {offsets = array<i64: 0, 128>, {{.*}} -> tensor<256x2xf32>
  // CHECK: weir.reduce max {{.*}} {axes = array<i64: 1, 2>} : tensor<2x128x2xf32> -> tensor<2xf32>
  // CHECK: weir.concat {{.*}} {dimension = 1 : i64}
  // CHECK: %[[W:.*]] = weir.cast {{.*}} : tensor<256x130xf32> -> tensor<256x130xbf16>
  // CHECK: weir.matmul %{{.*}}, %[[W]] :
  // CHECK: weir.matmul %{{.*}}, %[[W]] {transpose_rhs}
  // CHECK: %[[T:.*]] = weir.transpose %[[W]]
  // CHECK: weir.matmul %{{.*}}, %[[T]] :
  %w = weir.read @w : tensor<256x130xf32>
  %y = weir.matmul %x, %w : tensor<4x256xf32>, tensor<256x130xf32> -> tensor<4x130xf32>
  %d = weir.matmul %g, %w {transpose_rhs} : tensor<4x130xf32>, tensor<256x130xf32> -> tensor<4x256xf32>
  %t = weir.transpose %w {permutation = array<i64: 1, 0>} : tensor<256x130xf32> -> tensor<130x256xf32>
  %e = weir.matmul %g, %t : tensor<4x130xf32>, tensor<130x256xf32> -> tensor<4x256xf32>
  return %y, %d, %e : tensor<4x130xf32>, tensor<4x256xf32>, tensor<4x256xf32>
}

// -----

// What a convolution multiplies is one block.
// CHECK-LABEL: func @convolution
func.func @convolution(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32> {
  // CHECK-DAG: weir.reduce max {{.*}} : tensor<2x3x8x8xf32> -> tensor<f32>
  // CHECK-DAG: weir.reduce max {{.*}} : tensor<4x3x3x3xf32> -> tensor<f32>
  // CHECK: weir.convolution {{.*}} : tensor<2x3x8x8xbf16>, tensor<4x3x3x3xbf16>
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x6x6xf32>
  return %y : tensor<2x4x6x6xf32>
}

// -----

// What is pinned to f8 has scales of the steps before it, not so what multiplies the same in blocks.
weir.variable run @"run/step" : tensor<i32>
// CHECK: weir.variable optimizer @"f8/amax" : tensor<2x16xf32>
// CHECK-LABEL: func @step
func.func @step(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x3x3x3xf32>) -> (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) {
  // CHECK: weir.convolution %[[X:.*]], %{{.*}} {
  // CHECK-NOT: weir.convolution %[[X]],
  // CHECK: weir.convolution
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>, weir.pin = "f8"} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x6x6xf32>
  %z = weir.convolution %x, %v {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x6x6xf32>
  return %y, %z : tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>
}
