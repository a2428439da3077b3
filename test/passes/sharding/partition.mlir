// RUN: weir-opt --weir-strategy="mesh=dp=2" --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives --split-input-file %s | FileCheck %s

weir.variable parameter @w : tensor<3x5xf32>

// Each rank multiplies its rows; the gradient is added up where something is not linear in it.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x5xf32> {weir.sharding = #weir.sharding<[4@dp, 5]>}) -> tensor<4x3xf32>
func.func @step(%x: tensor<4x5xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[W:.*]] = weir.read @w : tensor<3x5xf32>
  %w = weir.read @w : tensor<3x5xf32>
  // CHECK: %[[Y:.*]] = weir.matmul %[[X]], %[[W]] {transpose_rhs} : tensor<2x5xf32>, tensor<3x5xf32> -> tensor<2x3xf32>
  %y = weir.matmul %x, %w {transpose_rhs} : tensor<4x5xf32>, tensor<3x5xf32> -> tensor<4x3xf32>
  // CHECK: %[[G:.*]] = weir.matmul %[[Y]], %[[X]] {transpose_lhs} : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<3x5xf32>
  %g = weir.matmul %y, %x {transpose_lhs} : tensor<4x3xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
  // CHECK: %[[N:.*]] = weir.neg %[[G]] : tensor<3x5xf32>
  %n = weir.neg %g : tensor<3x5xf32>
  // CHECK: %[[ONE:.*]] = weir.merge_dims %[[N]] {count = 0 : i64, first = 0 : i64} : tensor<3x5xf32> -> tensor<1x3x5xf32>
  // CHECK: %[[ALL:.*]] = weir.all_gather %[[ONE]] over "dp" rows [1, 1] : tensor<1x3x5xf32> -> tensor<2x3x5xf32>
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[ALL]] {axes = array<i64: 0>}
  // CHECK: weir.mul %[[SUM]], %[[SUM]]
  %s = weir.mul %n, %n : tensor<3x5xf32>
  weir.write @w, %s : tensor<3x5xf32>
  // CHECK: %[[WHOLE:.*]] = weir.all_gather %[[Y]] over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  // CHECK: return %[[WHOLE]]
  return %y : tensor<4x3xf32>
}

// -----

// What is used twice is added up once.
// CHECK-LABEL: func @twice
func.func @twice(%x: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK: weir.reduce sum
  // CHECK: weir.all_gather
  // CHECK: %[[SUM:.*]] = weir.reduce sum
  // CHECK-NOT: weir.all_gather
  // CHECK: weir.neg %[[SUM]]
  // CHECK: weir.add %[[SUM]], %[[SUM]]
  %s = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  %n = weir.neg %s : tensor<3xf32>
  %d = weir.add %s, %s : tensor<3xf32>
  return %n, %d : tensor<3xf32>, tensor<3xf32>
}

// -----

// Large sums are made in shares.
// CHECK-LABEL: func @large
func.func @large(%x: tensor<4x2049xf32>) -> tensor<2049xf32> {
  // CHECK: %[[S:.*]] = weir.reduce sum
  // CHECK: %[[PADDED:.*]] = weir.pad %[[S]] {{.*}} : tensor<2049xf32> -> tensor<2050xf32>
  // CHECK: %[[PARTS:.*]] = weir.all_to_all %[[PADDED]] over "dp" rows [1025, 1025] : tensor<2050xf32> -> tensor<2050xf32>
  // CHECK: %[[SPLIT:.*]] = weir.split_dim %[[PARTS]] {{.*}} -> tensor<2x1025xf32>
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[SPLIT]] {axes = array<i64: 0>}
  // CHECK: %[[ALL:.*]] = weir.all_gather %[[SUM]] over "dp" rows [1025, 1025] : tensor<1025xf32> -> tensor<2050xf32>
  // CHECK: weir.slice %[[ALL]] {{.*}} : tensor<2050xf32> -> tensor<2049xf32>
  %s = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x2049xf32> -> tensor<2049xf32>
  return %s : tensor<2049xf32>
}

// -----

weir.variable run @"run/seed" : tensor<i32>

// A rank draws what the whole tensor has in its place.
// CHECK: weir.variable run @"run/begin/4@dp" : tensor<i32>
// CHECK-LABEL: func @drawn
func.func @drawn(%x: tensor<4x2xf32>) -> tensor<f32> {
  %seed = weir.read @"run/seed" : tensor<i32>
  // CHECK: weir.iota {dimension = 0 : i64} -> tensor<2x2xi32>
  // CHECK: weir.read @"run/begin/4@dp"
  // CHECK: %[[PLACES:.*]] = weir.add
  // CHECK: weir.random uniform {{.*}} at %{{.*}} of 8 {key = 7 : i64} : {{.*}} -> tensor<2x2xf32>
  %r = weir.random uniform seed %seed step %seed round %seed {key = 7 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
  %y = weir.mul %x, %r : tensor<4x2xf32>
  %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x2xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// -----

weir.variable run @"run/seed" : tensor<i32>

// Of more than 2^32 it draws by runs: the place in one, and which it is.
// CHECK-LABEL: func @many_drawn
func.func @many_drawn(%x: tensor<8192x1048576xf32>) -> tensor<f32> {
  %seed = weir.read @"run/seed" : tensor<i32>
  // CHECK: %[[COLUMN:.*]] = weir.iota {dimension = 1 : i64} -> tensor<4096x1048576xi32>
  // CHECK: %[[INSIDE:.*]] = weir.mul %[[COLUMN]]
  // CHECK: weir.iota {dimension = 0 : i64} -> tensor<4096x1048576xi32>
  // CHECK: %[[ROW:.*]] = weir.add
  // CHECK: %[[ACROSS:.*]] = weir.mul %[[ROW]]
  // CHECK: weir.random uniform {{.*}} at %[[INSIDE]], %[[ACROSS]] of 8589934592 {block = 1048576 : i64, key = 7 : i64} : {{.*}} -> tensor<4096x1048576xf32>
  %r = weir.random uniform seed %seed step %seed round %seed {key = 7 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8192x1048576xf32>
  %y = weir.mul %x, %r : tensor<8192x1048576xf32>
  %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<8192x1048576xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// Sums of microbatches are added up behind the last.
// CHECK-LABEL: func @microbatches
func.func @microbatches(%x: tensor<6x2xf32>) -> tensor<2xf32> {
  // CHECK: weir.microbatches 3 sliced(%{{.*}}) carried() : (tensor<3x2xf32>) -> tensor<2xf32>
  %sum = weir.microbatches 3 sliced(%x) carried() : (tensor<6x2xf32>) -> tensor<2xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x2xf32>):
    // CHECK-NOT: weir.all_gather
    // CHECK: weir.yield
    %s = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2x2xf32> -> tensor<2xf32>
    weir.yield %s : tensor<2xf32>
  }
  // CHECK: weir.all_gather
  return %sum : tensor<2xf32>
}
