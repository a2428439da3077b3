// RUN: weir-opt %s | weir-opt | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: weir.constant 1.500000e+00 : f32 -> tensor<2x3xf32>
  weir.constant 1.5 : f32 -> tensor<2x3xf32>
  // CHECK: weir.constant -7 : i32 -> tensor<i32>
  weir.constant -7 : i32 -> tensor<i32>
  // CHECK: weir.constant 255 : ui8 -> tensor<4xui8>
  weir.constant 255 : ui8 -> tensor<4xui8>
  // CHECK: weir.constant true -> tensor<4xi1>
  weir.constant true -> tensor<4xi1>
  // CHECK: weir.iota {dimension = 1 : i64} -> tensor<2x3xi32>
  weir.iota {dimension = 1 : i64} -> tensor<2x3xi32>
  return
}

// CHECK-LABEL: @views
func.func @views(%x: tensor<2x6xf32>, %s: tensor<f32>) {
  // CHECK: weir.broadcast %{{.*}} {dimensions = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<5x2x6xf32>
  weir.broadcast %x {dimensions = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<5x2x6xf32>
  // CHECK: weir.broadcast %{{.*}} {dimensions = array<i64>} : tensor<f32> -> tensor<5xf32>
  weir.broadcast %s {dimensions = array<i64>} : tensor<f32> -> tensor<5xf32>
  // CHECK: weir.transpose %{{.*}} {permutation = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<6x2xf32>
  weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<6x2xf32>
  // CHECK: weir.split_dim %{{.*}} {dimension = 1 : i64, sizes = array<i64: 2, 3>} : tensor<2x6xf32> -> tensor<2x2x3xf32>
  weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 2, 3>} : tensor<2x6xf32> -> tensor<2x2x3xf32>
  // CHECK: weir.merge_dims %{{.*}} {count = 2 : i64, first = 0 : i64} : tensor<2x6xf32> -> tensor<12xf32>
  weir.merge_dims %x {count = 2 : i64, first = 0 : i64} : tensor<2x6xf32> -> tensor<12xf32>
  // CHECK: weir.merge_dims %{{.*}} {count = 0 : i64, first = 2 : i64} : tensor<2x6xf32> -> tensor<2x6x1xf32>
  weir.merge_dims %x {count = 0 : i64, first = 2 : i64} : tensor<2x6xf32> -> tensor<2x6x1xf32>
  // CHECK: weir.slice %{{.*}} {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x3xf32>
  weir.slice %x {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x3xf32>
  // CHECK: weir.pad %{{.*}} {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x12xf32>
  weir.pad %x {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x12xf32>
  return
}

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<2x6xf32>, %y: tensor<3x6xf32>, %i: tensor<4x5xi32>, %g: tensor<4x5x6xf32>) {
  // CHECK: weir.concat %{{.*}}, %{{.*}} {dimension = 0 : i64} : tensor<2x6xf32>, tensor<3x6xf32> -> tensor<5x6xf32>
  weir.concat %x, %y {dimension = 0 : i64} : tensor<2x6xf32>, tensor<3x6xf32> -> tensor<5x6xf32>
  // CHECK: weir.gather %{{.*}}, %{{.*}} : tensor<2x6xf32>, tensor<4x5xi32> -> tensor<4x5x6xf32>
  weir.gather %x, %i : tensor<2x6xf32>, tensor<4x5xi32> -> tensor<4x5x6xf32>
  // CHECK: weir.segment_sum %{{.*}}, %{{.*}} : tensor<4x5x6xf32>, tensor<4x5xi32> -> tensor<2x6xf32>
  weir.segment_sum %g, %i : tensor<4x5x6xf32>, tensor<4x5xi32> -> tensor<2x6xf32>
  return
}
