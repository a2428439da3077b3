// RUN: weir-opt "--weir-propagate-layouts=mesh=dp=2 zero=3" --weir-partition --split-input-file %s | FileCheck %s

// Two sums that are ready together are one, and each is a part of it.
// CHECK-LABEL: func @sums
func.func @sums(%x: tensor<4x3xf32>, %z: tensor<4x5x2xf32>) -> (tensor<3xf32>, tensor<5x2xf32>) {
  // CHECK-DAG: %[[A:.*]] = weir.reduce sum %arg0
  // CHECK-DAG: %[[B:.*]] = weir.reduce sum %arg1
  // CHECK: %[[FLAT:.*]] = weir.merge_dims %[[B]] {{.*}} : tensor<5x2xf32> -> tensor<10xf32>
  // CHECK: weir.concat %[[A]], %[[FLAT]] {{.*}} -> tensor<13xf32>
  // CHECK: %[[ALL:.*]] = weir.all_gather {{.*}} over "dp"
  // CHECK-NOT: weir.all
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[ALL]] {axes = array<i64: 0>} : tensor<2x13xf32> -> tensor<13xf32>
  // CHECK: %[[ONE:.*]] = weir.slice %[[SUM]] {offsets = array<i64: 0>, strides = array<i64: 1>}
  // CHECK: %[[PART:.*]] = weir.slice %[[SUM]] {offsets = array<i64: 3>, strides = array<i64: 1>}
  // CHECK: %[[OTHER:.*]] = weir.split_dim %[[PART]] {{.*}} -> tensor<5x2xf32>
  // CHECK: return %[[ONE]], %[[OTHER]]
  %a = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  %b = weir.reduce sum %z {axes = array<i64: 0>} : tensor<4x5x2xf32> -> tensor<5x2xf32>
  return %a, %b : tensor<3xf32>, tensor<5x2xf32>
}

// -----

// What needs one sum is not ready where that is made.
// CHECK-LABEL: func @one_after_the_other
func.func @one_after_the_other(%x: tensor<4x3xf32>) -> tensor<f32> {
  // CHECK-COUNT-2: weir.all_gather {{.*}} over "dp"
  // CHECK-NOT: weir.all
  // CHECK: return
  %a = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  %wide = weir.broadcast %a {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<4x3xf32>
  %y = weir.mul %x, %wide : tensor<4x3xf32>
  %b = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x3xf32> -> tensor<f32>
  return %b : tensor<f32>
}

// -----

// What is large is moved alone.
// CHECK-LABEL: func @large
func.func @large(%x: tensor<4x3xf32>, %z: tensor<4x262145xf32>) -> (tensor<3xf32>, tensor<262145xf32>) {
  // CHECK-NOT: weir.concat
  // CHECK: return
  %a = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  %b = weir.reduce sum %z {axes = array<i64: 0>} : tensor<4x262145xf32> -> tensor<262145xf32>
  return %a, %b : tensor<3xf32>, tensor<262145xf32>
}

// -----

weir.variable parameter @w : tensor<4xf32>
weir.variable parameter @v : tensor<6xf32>

// Of what is kept in parts, the parts of several are gathered together, and gradients cut together.
// CHECK-LABEL: func @kept_in_parts
func.func @kept_in_parts(%x: tensor<2x4xf32>, %z: tensor<2x6xf32>) {
  // CHECK: %[[SHARES:.*]] = weir.concat {{.*}} : tensor<2xf32>, tensor<3xf32> -> tensor<5xf32>
  // CHECK: %[[ALL:.*]] = weir.all_gather %[[SHARES]] over "dp" rows [5, 5]
  // CHECK: %[[MEMBERS:.*]] = weir.split_dim %[[ALL]] {{.*}} -> tensor<2x5xf32>
  // CHECK: %[[W:.*]] = weir.slice %[[MEMBERS]] {offsets = array<i64: 0, 0>, {{.*}} -> tensor<2x2xf32>
  // CHECK: weir.merge_dims %[[W]] {{.*}} -> tensor<4xf32>
  // CHECK: %[[V:.*]] = weir.slice %[[MEMBERS]] {offsets = array<i64: 0, 2>, {{.*}} -> tensor<2x3xf32>
  // CHECK: weir.merge_dims %[[V]] {{.*}} -> tensor<6xf32>
  // CHECK: weir.concat {{.*}} {dimension = 1 : i64} : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  // CHECK: weir.all_to_all {{.*}} over "dp" rows [5, 5]
  // CHECK-NOT: weir.all
  // CHECK: %[[SUM:.*]] = weir.reduce sum {{.*}} : tensor<2x5xf32> -> tensor<5xf32>
  // CHECK: %[[NEWW:.*]] = weir.slice %[[SUM]] {offsets = array<i64: 0>
  // CHECK: %[[NEWV:.*]] = weir.slice %[[SUM]] {offsets = array<i64: 2>
  // CHECK: weir.write @w, %[[NEWW]]
  // CHECK: weir.write @v, %[[NEWV]]
  %w = weir.read @w : tensor<4xf32>
  %v = weir.read @v : tensor<6xf32>
  %wide = weir.broadcast %w {dimensions = array<i64: 1>} : tensor<4xf32> -> tensor<2x4xf32>
  %y = weir.mul %x, %wide : tensor<2x4xf32>
  %broad = weir.broadcast %v {dimensions = array<i64: 1>} : tensor<6xf32> -> tensor<2x6xf32>
  %u = weir.mul %z, %broad : tensor<2x6xf32>
  %a = weir.reduce sum %y {axes = array<i64: 0>} : tensor<2x4xf32> -> tensor<4xf32>
  %b = weir.reduce sum %u {axes = array<i64: 0>} : tensor<2x6xf32> -> tensor<6xf32>
  weir.write @w, %a : tensor<4xf32>
  weir.write @v, %b : tensor<6xf32>
  return
}
