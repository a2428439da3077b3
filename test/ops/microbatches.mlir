// RUN: weir-check %s

// Sums of the rounds come first, then what is carried from round to round.
func.func @sums_and_carries() {
  %x = check.input dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %c = check.input dense<[1.0, 1.0]> : tensor<2xf32>
  %sum, %last = weir.microbatches 3 sliced(%x) carried(%c) : (tensor<6xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>, %carried: tensor<2xf32>):
    %s = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %product = weir.mul %carried, %part : tensor<2xf32>
    weir.yield %s, %product : tensor<f32>, tensor<2xf32>
  }
  check.expect %sum, dense<21.0> : tensor<f32> exactly
  check.expect %last, dense<[15.0, 48.0]> : tensor<2xf32> exactly
  return
}

// Values from outside are there in every round, and rounds count from 0.
func.func @rounds_and_values_from_outside() {
  %w = check.input dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %x = check.input dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.0, 1.0, 0.0]]> : tensor<4x3xf32>
  %r:2 = weir.microbatches 4 sliced(%x) carried() : (tensor<4x3xf32>) -> (tensor<1x3xf32>, tensor<i32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<1x3xf32>):
    %row = weir.split_dim %w {dimension = 0 : i64, sizes = array<i64: 1, 3>} : tensor<3xf32> -> tensor<1x3xf32>
    %p = weir.mul %part, %row : tensor<1x3xf32>
    weir.yield %p, %round : tensor<1x3xf32>, tensor<i32>
  }
  check.expect %r#0, dense<[[120.0, 320.0, 540.0]]> : tensor<1x3xf32> exactly
  check.expect %r#1, dense<6> : tensor<i32>
  return
}

func.func @one_round() {
  %x = check.input dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %s = weir.microbatches 1 sliced(%x) carried() : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<3xf32>):
    %d = weir.add %part, %part : tensor<3xf32>
    weir.yield %d : tensor<3xf32>
  }
  check.expect %s, dense<[2.0, 4.0, 6.0]> : tensor<3xf32> exactly
  return
}

// The sums over two cuts of one batch are equal: 17 rows in 17 rounds and in one.
func.func @the_cut_changes_no_sum() {
  %x = check.input dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0],
      [12.0], [13.0], [14.0], [15.0], [16.0], [17.0]]> : tensor<17x1xf32>
  %a = weir.microbatches 17 sliced(%x) carried() : (tensor<17x1xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<1x1xf32>):
    %square = weir.mul %part, %part : tensor<1x1xf32>
    %s = weir.reduce sum %square {axes = array<i64: 0, 1>} : tensor<1x1xf32> -> tensor<f32>
    weir.yield %s : tensor<f32>
  }
  %b = weir.microbatches 1 sliced(%x) carried() : (tensor<17x1xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<17x1xf32>):
    %square = weir.mul %part, %part : tensor<17x1xf32>
    %s = weir.reduce sum %square {axes = array<i64: 0, 1>} : tensor<17x1xf32> -> tensor<f32>
    weir.yield %s : tensor<f32>
  }
  check.expect %a, dense<1785.0> : tensor<f32> exactly
  check.expect %b, dense<1785.0> : tensor<f32> exactly
  return
}
