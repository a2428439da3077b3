// RUN: weir-opt --weir-strategy="mesh=tp=2 sequence-parallel=off" --weir-propagate-layouts --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-strategy="mesh=tp=2" --weir-propagate-layouts --split-input-file %s | FileCheck %s --check-prefix=SEQUENCE

// The first matrix is cut by columns, which cuts the second by rows, and there is one sum behind them: nothing
// else is told between the two.
// CHECK: module attributes {weir.batch = 3 : i64, weir.mesh = #weir.mesh<tp = 2>
// CHECK-SAME: "h.0.down", true, 1, "16@tp 8", "tp: with h.*.up"]
// CHECK-SAME: "h.0.up", true, 1, "8 16@tp", "tp: with h.*.up"]
// CHECK-SAME: "scale", true, 1, "8", ""]
// CHECK: weir.variable parameter @h.0.down {weir.sharding = #weir.sharding<[16@tp, 8]>} : tensor<16x8xf32>
// CHECK: weir.variable parameter @h.0.up {weir.sharding = #weir.sharding<[8, 16@tp]>} : tensor<8x16xf32>
// CHECK: weir.variable parameter @scale : tensor<8xf32>
// CHECK-NOT: weir.sharding
module attributes {weir.batch = 3 : i64} {
weir.variable parameter @"h.0.down" : tensor<16x8xf32>
weir.variable parameter @"h.0.up" : tensor<8x16xf32>
weir.variable parameter @scale : tensor<8xf32>

// CHECK-LABEL: func @step
// SEQUENCE-LABEL: func @step
func.func @step(%x: tensor<3x64x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %up = weir.read @"h.0.up" : tensor<8x16xf32>
  %down = weir.read @"h.0.down" : tensor<16x8xf32>
  %scale = weir.read @scale : tensor<8xf32>
  %rows = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<3x64x8xf32> -> tensor<192x8xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[192, 8, 16@tp]>
  %hidden = weir.matmul %rows, %up : tensor<192x8xf32>, tensor<8x16xf32> -> tensor<192x16xf32>
  // CHECK: weir.tanh {{.*}}weir.factor_sharding = #weir.sharding<[192, 16@tp]>
  %t = weir.tanh %hidden : tensor<192x16xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[192, 16@tp, 8]>
  %out = weir.matmul %t, %down : tensor<192x16xf32>, tensor<16x8xf32> -> tensor<192x8xf32>
  %y = weir.split_dim %out {dimension = 0 : i64, sizes = array<i64: 3, 64>} : tensor<192x8xf32> -> tensor<3x64x8xf32>
  // What is a sum is cut along another dimension, and what follows from it.
  // CHECK: weir.tanh
  // CHECK-NOT: weir.factor_sharding
  // SEQUENCE: weir.mul {{.*}}weir.factor_sharding = #weir.sharding<[3, 64@tp, 8]>
  %s = weir.broadcast %scale {dimensions = array<i64: 2>} : tensor<8xf32> -> tensor<3x64x8xf32>
  %scaled = weir.mul %y, %s : tensor<3x64x8xf32>
  %bent = weir.tanh %scaled : tensor<3x64x8xf32>
  %loss = weir.reduce sum %bent {axes = array<i64: 0, 1, 2>} : tensor<3x64x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
