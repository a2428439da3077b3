// RUN: weir-opt --weir-strategy="microbatches=4" --weir-cut-microbatches --split-input-file --verify-diagnostics %s


// Batch statistics are over the recipe's batch.
func.func @tied(%x: tensor<8x2xf32>) -> tensor<f32> {
  %s = weir.microbatches 2 sliced(%x) carried() : (tensor<8x2xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<4x2xf32>):
    %sums = weir.reduce sum %part {axes = array<i64: 0>} : tensor<4x2xf32> -> tensor<2xf32>
    %all = weir.broadcast %sums {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<4x2xf32>
    // expected-error@+1 {{a step cannot be split into 4 microbatches: a sum over the rows is combined with single rows}}
    %d = weir.sub %part, %all : tensor<4x2xf32>
    %sum = weir.reduce sum %d {axes = array<i64: 0, 1>} : tensor<4x2xf32> -> tensor<f32>
    weir.yield %sum : tensor<f32>
  }
  return %s : tensor<f32>
}

// -----

func.func @carried(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{a step cannot be split into 4 microbatches: state is carried from batch to batch, and would be carried between microbatches; use `accumulate 4` in its recipe, which takes as many whole batches per step}}
  %r = weir.microbatches 2 sliced(%x) carried(%c) : (tensor<8xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>, %old: tensor<f32>):
    weir.yield %old : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @no_multiple(%x: tensor<6xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{a step cannot be split into 4 microbatches: it accumulates 3 batches of 2 rows: expected a multiple of 3 that divides 6}}
  %r = weir.microbatches 3 sliced(%x) carried() : (tensor<6xf32>) -> tensor<2xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    weir.yield %part : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
