module {
weir.variable parameter @w : tensor<8x8xf32>
func.func @step(%x: tensor<3x6x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %w = weir.read @w : tensor<8x8xf32>
  %rows = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<3x6x8xf32> -> tensor<18x8xf32>
  %q = weir.matmul %rows, %w : tensor<18x8xf32>, tensor<8x8xf32> -> tensor<18x8xf32>
  %split = weir.split_dim %q {dimension = 0 : i64, sizes = array<i64: 3, 6>} : tensor<18x8xf32> -> tensor<3x6x8xf32>
  %each = weir.split_dim %split {dimension = 2 : i64, sizes = array<i64: 2, 4>} : tensor<3x6x8xf32> -> tensor<3x6x2x4xf32>
  %heads = weir.transpose %each {permutation = array<i64: 0, 2, 1, 3>} : tensor<3x6x2x4xf32> -> tensor<3x2x6x4xf32>
  %y, %sum = weir.attention %heads, %heads, %heads {causal, scale = 0.5 : f64} : tensor<3x2x6x4xf32>, tensor<3x2x6x4xf32> -> tensor<3x2x6xf32>
  %t = weir.tanh %y : tensor<3x2x6x4xf32>
  %loss = weir.reduce sum %t {axes = array<i64: 0, 1, 2, 3>} : tensor<3x2x6x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
