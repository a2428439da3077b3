// RUN: weir-opt --weir-strategy="mesh=dp=2 zero=3" --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives --split-input-file %s | FileCheck %s

// Two sums that are ready together are one, and each is a part of it.
// CHECK-LABEL: func @sums
func.func @sums(%x: tensor<4x3xf32>, %z: tensor<4x5x2xf32>) -> (tensor<3xf32>, tensor<5x2xf32>) {
  // CHECK-DAG: %[[A:.*]] = weir.reduce sum %arg0
  // CHECK-DAG: %[[B:.*]] = weir.reduce sum %arg1
  // CHECK: %[[FLAT:.*]] = weir.merge_dims %[[B]] {{.*}} : tensor<5x2xf32> -> tensor<10xf32>
  // CHECK: weir.pack %[[A]], %[[FLAT]] {{.*}} -> tensor<13xf32>
  // CHECK: %[[ALL:.*]] = weir.all_gather {{.*}} over "dp"
  // CHECK-NOT: weir.all
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[ALL]] {axes = array<i64: 0>} : tensor<2x13xf32> -> tensor<13xf32>
  // CHECK: %[[PARTS:.*]]:2 = weir.unpack %[[SUM]] {{.*}} -> tensor<3xf32>, tensor<10xf32>
  // CHECK: %[[OTHER:.*]] = weir.split_dim %[[PARTS]]#1 {{.*}} -> tensor<5x2xf32>
  // CHECK: return %[[PARTS]]#0, %[[OTHER]]
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

// A small gradient waits for the next one, which comes long after, if nothing needs its sum before.
// CHECK-LABEL: func @waits
func.func @waits(%x: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK: weir.all_gather {{.*}} over "dp" rows [1, 1] : tensor<1xf32> -> tensor<2xf32>
  // CHECK: %[[SECOND:.*]] = weir.reduce sum
  // CHECK: weir.pack %{{.*}}, %[[SECOND]] {{.*}} -> tensor<6xf32>
  // CHECK: weir.all_gather {{.*}} over "dp" rows [1, 1] : tensor<1x6xf32> -> tensor<2x6xf32>
  // CHECK-NOT: weir.all
  // CHECK: return
  %first = weir.reduce sum %x {axes = array<i64: 0>, weir.phase = #weir.phase<backward>} : tensor<4x3xf32> -> tensor<3xf32>
  %most = weir.reduce max %x {axes = array<i64: 0, 1>} : tensor<4x3xf32> -> tensor<f32>
  %wide = weir.broadcast %most {dimensions = array<i64>} : tensor<f32> -> tensor<4x3xf32>
  %y = weir.mul %x, %wide : tensor<4x3xf32>
  %second = weir.reduce sum %y {axes = array<i64: 0>, weir.phase = #weir.phase<backward>} : tensor<4x3xf32> -> tensor<3xf32>
  return %first, %second : tensor<3xf32>, tensor<3xf32>
}

// -----

// What is large is moved alone.
// CHECK-LABEL: func @large
func.func @large(%x: tensor<4x3xf32>, %z: tensor<4x262145xf32>) -> (tensor<3xf32>, tensor<262145xf32>) {
  // CHECK-NOT: weir.pack
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
  // CHECK: %[[SHARES:.*]] = weir.pack {{.*}} : tensor<2xf32>, tensor<3xf32> -> tensor<5xf32>
  // CHECK: %[[ALL:.*]] = weir.all_gather %[[SHARES]] over "dp" rows [5, 5]
  // CHECK: %[[MEMBERS:.*]] = weir.split_dim %[[ALL]] {{.*}} -> tensor<2x5xf32>
  // CHECK: %[[GOT:.*]]:2 = weir.unpack %[[MEMBERS]] {{.*}} -> tensor<2x2xf32>, tensor<2x3xf32>
  // CHECK: weir.merge_dims %[[GOT]]#0 {{.*}} -> tensor<4xf32>
  // CHECK: weir.merge_dims %[[GOT]]#1 {{.*}} -> tensor<6xf32>
  // CHECK: weir.pack {{.*}} : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  // CHECK: weir.all_to_all {{.*}} over "dp" rows [5, 5]
  // CHECK-NOT: weir.all
  // CHECK: %[[SUM:.*]] = weir.reduce sum {{.*}} : tensor<2x5xf32> -> tensor<5xf32>
  // CHECK: %[[NEW:.*]]:2 = weir.unpack %[[SUM]] {{.*}} -> tensor<2xf32>, tensor<3xf32>
  // CHECK: weir.write @w, %[[NEW]]#0
  // CHECK: weir.write @v, %[[NEW]]#1
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

// -----

weir.variable state @kept : tensor<3xf32>

// What takes many ops is not computed ahead for a bucket, and a bucket does not wait where its sum is written before.
// CHECK-LABEL: func @far_away
func.func @far_away(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  // CHECK-NOT: weir.pack
  // CHECK: return
  %a = weir.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  weir.write @kept, %a : tensor<3xf32>
  %c0 = weir.exp %x : tensor<4x3xf32>
  %c1 = weir.exp %c0 : tensor<4x3xf32>
  %c2 = weir.exp %c1 : tensor<4x3xf32>
  %c3 = weir.exp %c2 : tensor<4x3xf32>
  %c4 = weir.exp %c3 : tensor<4x3xf32>
  %c5 = weir.exp %c4 : tensor<4x3xf32>
  %c6 = weir.exp %c5 : tensor<4x3xf32>
  %c7 = weir.exp %c6 : tensor<4x3xf32>
  %c8 = weir.exp %c7 : tensor<4x3xf32>
  %c9 = weir.exp %c8 : tensor<4x3xf32>
  %c10 = weir.exp %c9 : tensor<4x3xf32>
  %c11 = weir.exp %c10 : tensor<4x3xf32>
  %c12 = weir.exp %c11 : tensor<4x3xf32>
  %c13 = weir.exp %c12 : tensor<4x3xf32>
  %c14 = weir.exp %c13 : tensor<4x3xf32>
  %c15 = weir.exp %c14 : tensor<4x3xf32>
  %c16 = weir.exp %c15 : tensor<4x3xf32>
  %c17 = weir.exp %c16 : tensor<4x3xf32>
  %c18 = weir.exp %c17 : tensor<4x3xf32>
  %c19 = weir.exp %c18 : tensor<4x3xf32>
  %c20 = weir.exp %c19 : tensor<4x3xf32>
  %c21 = weir.exp %c20 : tensor<4x3xf32>
  %c22 = weir.exp %c21 : tensor<4x3xf32>
  %c23 = weir.exp %c22 : tensor<4x3xf32>
  %c24 = weir.exp %c23 : tensor<4x3xf32>
  %c25 = weir.exp %c24 : tensor<4x3xf32>
  %c26 = weir.exp %c25 : tensor<4x3xf32>
  %c27 = weir.exp %c26 : tensor<4x3xf32>
  %c28 = weir.exp %c27 : tensor<4x3xf32>
  %c29 = weir.exp %c28 : tensor<4x3xf32>
  %c30 = weir.exp %c29 : tensor<4x3xf32>
  %c31 = weir.exp %c30 : tensor<4x3xf32>
  %c32 = weir.exp %c31 : tensor<4x3xf32>
  %c33 = weir.exp %c32 : tensor<4x3xf32>
  %c34 = weir.exp %c33 : tensor<4x3xf32>
  %c35 = weir.exp %c34 : tensor<4x3xf32>
  %c36 = weir.exp %c35 : tensor<4x3xf32>
  %c37 = weir.exp %c36 : tensor<4x3xf32>
  %c38 = weir.exp %c37 : tensor<4x3xf32>
  %c39 = weir.exp %c38 : tensor<4x3xf32>
  %c40 = weir.exp %c39 : tensor<4x3xf32>
  %c41 = weir.exp %c40 : tensor<4x3xf32>
  %c42 = weir.exp %c41 : tensor<4x3xf32>
  %c43 = weir.exp %c42 : tensor<4x3xf32>
  %c44 = weir.exp %c43 : tensor<4x3xf32>
  %c45 = weir.exp %c44 : tensor<4x3xf32>
  %c46 = weir.exp %c45 : tensor<4x3xf32>
  %c47 = weir.exp %c46 : tensor<4x3xf32>
  %c48 = weir.exp %c47 : tensor<4x3xf32>
  %c49 = weir.exp %c48 : tensor<4x3xf32>
  %c50 = weir.exp %c49 : tensor<4x3xf32>
  %c51 = weir.exp %c50 : tensor<4x3xf32>
  %c52 = weir.exp %c51 : tensor<4x3xf32>
  %c53 = weir.exp %c52 : tensor<4x3xf32>
  %c54 = weir.exp %c53 : tensor<4x3xf32>
  %c55 = weir.exp %c54 : tensor<4x3xf32>
  %c56 = weir.exp %c55 : tensor<4x3xf32>
  %c57 = weir.exp %c56 : tensor<4x3xf32>
  %c58 = weir.exp %c57 : tensor<4x3xf32>
  %c59 = weir.exp %c58 : tensor<4x3xf32>
  %c60 = weir.exp %c59 : tensor<4x3xf32>
  %c61 = weir.exp %c60 : tensor<4x3xf32>
  %c62 = weir.exp %c61 : tensor<4x3xf32>
  %c63 = weir.exp %c62 : tensor<4x3xf32>
  %c64 = weir.exp %c63 : tensor<4x3xf32>
  %b = weir.reduce sum %c64 {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// -----

weir.variable parameter @w : tensor<131072xf32>
weir.variable parameter @v : tensor<131072xf32>
weir.variable parameter @u : tensor<2xf32>

// What is gathered counts, not what each gives for it: the first two fill a bucket.
// CHECK-LABEL: func @gathered
func.func @gathered(%x: tensor<2x131072xf32>, %z: tensor<2x2xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK: weir.all_gather {{.*}} rows [131072, 131072] : tensor<131072xf32> -> tensor<262144xf32>
  // CHECK: weir.all_gather {{.*}} rows [1, 1] : tensor<1xf32> -> tensor<2xf32>
  %w = weir.read @w : tensor<131072xf32>
  %v = weir.read @v : tensor<131072xf32>
  %u = weir.read @u : tensor<2xf32>
  %wide = weir.broadcast %w {dimensions = array<i64: 1>} : tensor<131072xf32> -> tensor<2x131072xf32>
  %a = weir.mul %x, %wide : tensor<2x131072xf32>
  %broad = weir.broadcast %v {dimensions = array<i64: 1>} : tensor<131072xf32> -> tensor<2x131072xf32>
  %b = weir.mul %x, %broad : tensor<2x131072xf32>
  %other = weir.broadcast %u {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<2x2xf32>
  %c = weir.mul %z, %other : tensor<2x2xf32>
  %sa = weir.reduce sum %a {axes = array<i64: 0, 1>} : tensor<2x131072xf32> -> tensor<f32>
  %sb = weir.reduce sum %b {axes = array<i64: 0, 1>} : tensor<2x131072xf32> -> tensor<f32>
  %sc = weir.reduce sum %c {axes = array<i64: 0, 1>} : tensor<2x2xf32> -> tensor<f32>
  return %sa, %sb, %sc : tensor<f32>, tensor<f32>, tensor<f32>
}
