// RUN: weir-opt --weir-accumulate-gradients --split-input-file --verify-diagnostics %s

// What only exists behind the rounds is there in none of them.
func.func @source_behind(%x: tensor<4xf32>) -> tensor<f32> {
  %s = weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    weir.yield %sum : tensor<f32>
  }
  %n = weir.constant 4.0 : f32 -> tensor<f32>
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{'weir.gradient' op is taken with respect to what its microbatches compute}}
  %g = weir.gradient %loss wrt(%s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
