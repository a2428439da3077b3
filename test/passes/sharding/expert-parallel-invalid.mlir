// RUN: weir-opt --weir-strategy="mesh=ep=4" --weir-propagate-layouts --split-input-file --verify-diagnostics %s

module {
weir.variable parameter @up : tensor<3x8x16xf32>
func.func @step(%x: tensor<3x12x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh ep=4 shards the experts of `up`, but there are 3: expected at least one per rank; use more experts, or at most ep=3}}
  %up = weir.read @up : tensor<3x8x16xf32>
  %y = weir.matmul %x, %up : tensor<3x12x8xf32>, tensor<3x8x16xf32> -> tensor<3x12x16xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2>} : tensor<3x12x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

// Three dimensions are not enough: the first one has to count products.
module {
weir.variable parameter @w : tensor<4x2x16xf32>
// expected-error @below {{--mesh ep=4 shards experts, but this model has none: expected parameters whose first dimension counts experts, such as [experts, width, hidden], multiplied by the tokens of each, [experts, places, width]; to shard only batches, use dp}}
func.func @step(%x: tensor<12x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %w = weir.read @w : tensor<4x2x16xf32>
  %flat = weir.merge_dims %w {first = 0 : i64, count = 2 : i64} : tensor<4x2x16xf32> -> tensor<8x16xf32>
  %y = weir.matmul %x, %flat : tensor<12x8xf32>, tensor<8x16xf32> -> tensor<12x16xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<12x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
