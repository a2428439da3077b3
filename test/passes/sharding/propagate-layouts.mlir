// RUN: weir-opt --weir-strategy="mesh=dp=2" --weir-propagate-layouts --split-input-file %s | FileCheck %s

weir.variable parameter @w : tensor<5x7xf32>

// Rows stay cut through what they are merged with; what is summed over is cut as well.
// CHECK: module attributes {weir.mesh = #weir.mesh<dp = 2>
// CHECK-LABEL: func @rows
// CHECK-SAME: %{{.*}}: tensor<4x3x5xf32> {weir.sharding = #weir.sharding<[4@dp, 3, 5]>}
func.func @rows(%x: tensor<4x3x5xf32>) -> tensor<7x5xf32> {
  // CHECK: weir.read @w : tensor<5x7xf32>
  %w = weir.read @w : tensor<5x7xf32>
  // CHECK: weir.merge_dims {{.*}}weir.factor_sharding = #weir.sharding<[4@dp, 3, 5]>
  %rows = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<4x3x5xf32> -> tensor<12x5xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[4@dp*3, 5, 7]>
  %y = weir.matmul %rows, %w : tensor<12x5xf32>, tensor<5x7xf32> -> tensor<12x7xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[4@dp*3, 7, 5]>
  %g = weir.matmul %y, %rows {transpose_lhs} : tensor<12x7xf32>, tensor<12x5xf32> -> tensor<7x5xf32>
  // CHECK: weir.mul %{{[0-9]*}}, %{{[0-9]*}} : tensor<7x5xf32>
  %s = weir.mul %g, %g : tensor<7x5xf32>
  return %s : tensor<7x5xf32>
}

// -----

// An input has the rows of all microbatches: each rank has its part of each.
// CHECK-LABEL: func @microbatches
// CHECK-SAME: %{{.*}}: tensor<6x2xf32> {weir.sharding = #weir.sharding<[3*2@dp, 2]>}
func.func @microbatches(%x: tensor<6x2xf32>) -> tensor<2xf32> {
  // CHECK: weir.microbatches 3
  // CHECK-SAME: weir.body_shardings = [#weir.sharding<[]>, #weir.sharding<[2@dp, 2]>]
  %sum = weir.microbatches 3 sliced(%x) carried() : (tensor<6x2xf32>) -> tensor<2xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x2xf32>):
    // CHECK: weir.reduce {{.*}}weir.factor_sharding = #weir.sharding<[2@dp, 2]>
    %s = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2x2xf32> -> tensor<2xf32>
    weir.yield %s : tensor<2xf32>
  }
  return %sum : tensor<2xf32>
}

// -----

// What has fewer rows than there are ranks stays whole.
// CHECK-LABEL: func @one_row
// CHECK-NOT: weir.sharding
func.func @one_row(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK-NOT: weir.factor_sharding
  %y = weir.exp %x : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

// A maximum is cut along what it is taken of, as a sum is.
// CHECK-LABEL: func @largest
func.func @largest(%x: tensor<4x2xf32>) -> tensor<2xf32> {
  // CHECK: weir.reduce max {{.*}}weir.factor_sharding = #weir.sharding<[4@dp, 2]>
  %y = weir.reduce max %x {axes = array<i64: 0>} : tensor<4x2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// What a slice takes of a dimension that falls into such parts is cut in each of them; what is no part of
// it is whole.
// CHECK-LABEL: func @parts
func.func @parts(%x: tensor<4x6xf32>) -> tensor<12xf32> {
  %m = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x6xf32> -> tensor<6x4xf32>
  %all = weir.merge_dims %m {first = 0 : i64, count = 2 : i64} : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK: weir.slice {{.*}}weir.factor_sharding = #weir.sharding<[3*4@dp, 2]>} : tensor<24xf32> -> tensor<12xf32>
  %half = weir.slice %all {offsets = array<i64: 12>, strides = array<i64: 1>} : tensor<24xf32> -> tensor<12xf32>
  // CHECK: weir.slice {{.*}} {offsets = array<i64: 6>, strides = array<i64: 1>} :
  %other = weir.slice %all {offsets = array<i64: 6>, strides = array<i64: 1>} : tensor<24xf32> -> tensor<12xf32>
  %y = weir.add %half, %other : tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// Rows of which a rank has none would be added up: bytes have no sums, so their table is whole.
// CHECK-LABEL: func @bytes
func.func @bytes(%x: tensor<6xui8>, %i: tensor<i32>) -> tensor<ui8> {
  // CHECK: weir.gather %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<6xui8>
  %y = weir.gather %x, %i : tensor<6xui8>, tensor<i32> -> tensor<ui8>
  return %y : tensor<ui8>
}
