// RUN: weir-opt --weir-strategy="mesh=tp=2" --weir-propagate-layouts %s | FileCheck %s

// What is a sum over tp is cut along the places of each row of a microbatch, of which there are fewer than of the batch: it lies as
// other tensors that are cut so do.
module attributes {weir.batch = 6 : i64} {
weir.variable parameter @"h.0.down" : tensor<16x8xf32>
weir.variable parameter @"h.0.up" : tensor<8x16xf32>
weir.variable parameter @scale : tensor<8xf32>

// CHECK-LABEL: func @step
func.func @step(%x: tensor<6x64x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %up = weir.read @"h.0.up" : tensor<8x16xf32>
  %down = weir.read @"h.0.down" : tensor<16x8xf32>
  %scale = weir.read @scale : tensor<8xf32>
  %loss = weir.microbatches 2 sliced(%x) carried() : (tensor<6x64x8xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<3x64x8xf32>):
    %rows = weir.merge_dims %part {first = 0 : i64, count = 2 : i64} : tensor<3x64x8xf32> -> tensor<192x8xf32>
    %hidden = weir.matmul %rows, %up : tensor<192x8xf32>, tensor<8x16xf32> -> tensor<192x16xf32>
    %out = weir.matmul %hidden, %down : tensor<192x16xf32>, tensor<16x8xf32> -> tensor<192x8xf32>
    %y = weir.split_dim %out {dimension = 0 : i64, sizes = array<i64: 3, 64>} : tensor<192x8xf32> -> tensor<3x64x8xf32>
    %s = weir.broadcast %scale {dimensions = array<i64: 2>} : tensor<8xf32> -> tensor<3x64x8xf32>
    // CHECK: weir.mul {{.*}}weir.factor_sharding = #weir.sharding<[3, 64@tp, 8]>
    %scaled = weir.mul %y, %s : tensor<3x64x8xf32>
    %bent = weir.tanh %scaled : tensor<3x64x8xf32>
    %sum = weir.reduce sum %bent {axes = array<i64: 0, 1, 2>} : tensor<3x64x8xf32> -> tensor<f32>
    weir.yield %sum : tensor<f32>
  }
  return %loss : tensor<f32>
}
}
