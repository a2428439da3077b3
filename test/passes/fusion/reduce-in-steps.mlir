// RUN: weir-opt --weir-fuse=target=cuda --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-fuse --split-input-file %s | FileCheck %s --check-prefix=CPU

// A channel's sum: of rows with what is computed on the way, then of the rows' sums.
// CHECK-LABEL: func @channels
// CHECK: weir.kernel row
// CHECK: weir.mul
// CHECK: weir.reduce sum %{{.*}} {axes = array<i64: 2, 3>}
// CHECK: weir.kernel row
// CHECK: weir.reduce sum %{{.*}} {axes = array<i64: 0>}
// CPU-LABEL: func @channels
// CPU: weir.kernel nest
// CPU: weir.reduce sum %{{.*}} {axes = array<i64: 0, 2, 3>}
func.func @channels(%x: tensor<4x3x5x5xf32>) -> tensor<3xf32> {
  %q = weir.mul %x, %x : tensor<4x3x5x5xf32>
  %r = weir.reduce sum %q {axes = array<i64: 0, 2, 3>} : tensor<4x3x5x5xf32> -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Where no last axis is among them, the first come first.
// CHECK-LABEL: func @first_and_middle
// CHECK: weir.reduce max %{{.*}} {axes = array<i64: 0>} : tensor<4x3x5x7xf32>
// CHECK: weir.reduce max %{{.*}} {axes = array<i64: 1>} : tensor<3x5x7xf32>
func.func @first_and_middle(%x: tensor<4x3x5x7xf32>) -> tensor<3x7xf32> {
  %r = weir.reduce max %x {axes = array<i64: 0, 2>} : tensor<4x3x5x7xf32> -> tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}
