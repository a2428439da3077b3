// RUN: weir-opt --weir-strategy="mesh=ep=4" --weir-propagate-layouts --split-input-file --verify-diagnostics %s

module {
weir.variable parameter @up : tensor<3x8x16xf32>
func.func @step(%x: tensor<3x12x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh ep=4 cuts the experts of `up`, of which there are 3: expected one for each rank at least; give more of them, or ep=3 at most}}
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
// expected-error @below {{--mesh ep=4 cuts experts, and this model has none: expected parameters whose first dimension counts them, such as [experts, width, hidden], and products with the tokens of each, [experts, places, width]; for rows alone, use dp}}
func.func @step(%x: tensor<12x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %w = weir.read @w : tensor<4x2x16xf32>
  %flat = weir.merge_dims %w {first = 0 : i64, count = 2 : i64} : tensor<4x2x16xf32> -> tensor<8x16xf32>
  %y = weir.matmul %x, %flat : tensor<12x8xf32>, tensor<8x16xf32> -> tensor<12x16xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<12x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
