// RUN: weir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() -> (tensor<2xf32>, tensor<i32>, tensor<i1>, tensor<3xui8>, tensor<i32>) {
  // CHECK-DAG: %[[A:.*]] = weir.constant 7.000000e+00 : f32 -> tensor<2xf32>
  // CHECK-DAG: %[[B:.*]] = weir.constant -3 : i32 -> tensor<i32>
  // CHECK-DAG: %[[C:.*]] = weir.constant true -> tensor<i1>
  // CHECK-DAG: %[[D:.*]] = weir.constant 200 : ui8 -> tensor<3xui8>
  // CHECK-DAG: %[[Z:.*]] = weir.constant 0 : i32 -> tensor<i32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[Z]]
  %two = weir.constant 2.0 : f32 -> tensor<2xf32>
  %three = weir.constant 3.0 : f32 -> tensor<2xf32>
  %one = weir.constant 1.0 : f32 -> tensor<2xf32>
  %six = weir.mul %two, %three : tensor<2xf32>
  %seven = weir.add %six, %one : tensor<2xf32>
  %minus = weir.constant -7 : i32 -> tensor<i32>
  %itwo = weir.constant 2 : i32 -> tensor<i32>
  %izero = weir.constant 0 : i32 -> tensor<i32>
  %q = weir.div %minus, %itwo : tensor<i32>
  %less = weir.compare lt %minus, %itwo : tensor<i32> -> tensor<i1>
  %big = weir.constant 200.0 : f32 -> tensor<3xf32>
  %u = weir.cast %big : tensor<3xf32> -> tensor<3xui8>
  %none = weir.div %minus, %izero : tensor<i32>
  return %seven, %q, %less, %u, %none : tensor<2xf32>, tensor<i32>, tensor<i1>, tensor<3xui8>, tensor<i32>
}

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<i32>, %[[B:.*]]: tensor<i1>)
func.func @identities(%x: tensor<2xf32>, %i: tensor<i32>, %b: tensor<i1>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i1>) {
  // CHECK-NEXT: %[[Z:.*]] = weir.constant 0 : i32 -> tensor<i32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[Z]], %[[B]]
  %zero = weir.constant 0.0 : f32 -> tensor<2xf32>
  %one = weir.constant 1.0 : f32 -> tensor<2xf32>
  %izero = weir.constant 0 : i32 -> tensor<i32>
  %true = weir.constant true -> tensor<i1>
  %a = weir.add %zero, %x : tensor<2xf32>
  %m = weir.mul %x, %one : tensor<2xf32>
  %d = weir.div %x, %one : tensor<2xf32>
  %p = weir.pow %x, %one : tensor<2xf32>
  %n = weir.neg %x : tensor<2xf32>
  %nn = weir.neg %n : tensor<2xf32>
  %im = weir.mul %i, %izero : tensor<i32>
  %and = weir.and %b, %true : tensor<i1>
  return %a, %m, %d, %p, %nn, %im, %and
    : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i1>
}

// A product with 0 may be NaN.
// CHECK-LABEL: @no_identity
func.func @no_identity(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: weir.mul
  %zero = weir.constant 0.0 : f32 -> tensor<2xf32>
  %m = weir.mul %x, %zero : tensor<2xf32>
  return %m : tensor<2xf32>
}

// CHECK-LABEL: @square
func.func @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: weir.mul %[[X:.*]], %[[X]]
  %two = weir.constant 2.0 : f32 -> tensor<2xf32>
  %p = weir.pow %x, %two : tensor<2xf32>
  return %p : tensor<2xf32>
}

// CHECK-LABEL: @choices
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %{{.*}}: tensor<i1>)
func.func @choices(%x: tensor<f32>, %y: tensor<f32>, %c: tensor<i1>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: return %[[Y]], %[[X]], %[[X]]
  %false = weir.constant false -> tensor<i1>
  %a = weir.select %false, %x, %y : tensor<i1>, tensor<f32>
  %b = weir.select %c, %x, %x : tensor<i1>, tensor<f32>
  %d = weir.cast %x : tensor<f32> -> tensor<f32>
  return %a, %b, %d : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @broadcasts
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>)
func.func @broadcasts(%x: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<5xf32>) {
  // CHECK-DAG: %[[A:.*]] = weir.broadcast %[[X]] {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[B:.*]] = weir.broadcast %[[X]] {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<2x3xf32>
  // CHECK-DAG: %[[C:.*]] = weir.constant 2.000000e+00 : f32 -> tensor<5xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %a = weir.broadcast %x {dimensions = array<i64: 0>} : tensor<3xf32> -> tensor<3x4xf32>
  %aa = weir.broadcast %a {dimensions = array<i64: 1, 2>} : tensor<3x4xf32> -> tensor<2x3x4xf32>
  %row = weir.merge_dims %x {first = 0 : i64, count = 0 : i64} : tensor<3xf32> -> tensor<1x3xf32>
  %b = weir.broadcast %row {dimensions = array<i64: 0, 1>} : tensor<1x3xf32> -> tensor<2x3xf32>
  %two = weir.constant 2.0 : f32 -> tensor<f32>
  %c = weir.broadcast %two {dimensions = array<i64>} : tensor<f32> -> tensor<5xf32>
  return %aa, %b, %c : tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<5xf32>
}

// CHECK-LABEL: @layouts
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>, %[[Y:.*]]: tensor<2x3x4xf32>)
func.func @layouts(%x: tensor<2x6xf32>, %y: tensor<2x3x4xf32>)
    -> (tensor<2x6xf32>, tensor<4x3x2xf32>, tensor<2x6xf32>, tensor<2x3x4xf32>, tensor<1x2xf32>, tensor<2x6xf32>) {
  // CHECK-DAG: %[[T:.*]] = weir.transpose %[[Y]] {permutation = array<i64: 2, 1, 0>} : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-DAG: %[[S:.*]] = weir.slice %[[X]] {offsets = array<i64: 1, 1>, strides = array<i64: 1, 4>} : tensor<2x6xf32> -> tensor<1x2xf32>
  // CHECK: return %[[X]], %[[T]], %[[X]], %[[Y]], %[[S]], %[[X]]
  %t = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<6x2xf32>
  %tt = weir.transpose %t {permutation = array<i64: 1, 0>} : tensor<6x2xf32> -> tensor<2x6xf32>
  %u = weir.transpose %y {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %uu = weir.transpose %u {permutation = array<i64: 1, 0, 2>} : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  %s = weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 2, 3>} : tensor<2x6xf32> -> tensor<2x2x3xf32>
  %m = weir.merge_dims %s {first = 1 : i64, count = 2 : i64} : tensor<2x2x3xf32> -> tensor<2x6xf32>
  %n = weir.merge_dims %y {first = 0 : i64, count = 2 : i64} : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %o = weir.split_dim %n {dimension = 0 : i64, sizes = array<i64: 2, 3>} : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %c = weir.slice %x {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x3xf32>
  %cc = weir.slice %c {offsets = array<i64: 1, 0>, strides = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<1x2xf32>
  %w = weir.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return %tt, %uu, %m, %o, %cc, %w
    : tensor<2x6xf32>, tensor<4x3x2xf32>, tensor<2x6xf32>, tensor<2x3x4xf32>, tensor<1x2xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: @reductions
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
func.func @reductions(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<3xf32>) {
  // CHECK-DAG: %[[A:.*]] = weir.constant 1.000000e-01 : f32 -> tensor<f32>
  // CHECK-DAG: %[[B:.*]] = weir.constant 4.000000e+00 : f32 -> tensor<3xf32>
  // CHECK: return %[[X]], %[[A]], %[[B]]
  %none = weir.reduce sum %x {axes = array<i64>} : tensor<2xf32> -> tensor<2xf32>
  %tenth = weir.constant 0.1 : f32 -> tensor<4xf32>
  %max = weir.reduce max %tenth {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %one = weir.constant 1.0 : f32 -> tensor<4x3xf32>
  %sum = weir.reduce sum %one {axes = array<i64: 0>} : tensor<4x3xf32> -> tensor<3xf32>
  return %none, %max, %sum : tensor<2xf32>, tensor<f32>, tensor<3xf32>
}
