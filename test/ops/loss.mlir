// RUN: weir-check %s

func.func @one_term() {
  %s = check.input dense<6.0> : tensor<f32>
  %n = check.input dense<4.0> : tensor<f32>
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect %loss, dense<1.5> : tensor<f32> exactly
  return
}

// 6 / 4 - 0.5 * 3 / 2 + 2 * 10 / 5
func.func @weighted_terms_of_different_counts() {
  %s = check.input dense<6.0> : tensor<f32>
  %t = check.input dense<3.0> : tensor<f32>
  %u = check.input dense<10.0> : tensor<f32>
  %n = check.input dense<4.0> : tensor<f32>
  %m = check.input dense<2.0> : tensor<f32>
  %k = weir.constant 5.0 : f32 -> tensor<f32>
  %loss = weir.loss [1.0, -0.5, 2.0] sums(%s, %t, %u) counts(%n, %m, %k)
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect %loss, dense<4.75> : tensor<f32> exactly
  return
}

// Nothing was counted: the loss is 0.
func.func @no_rows() {
  %zero = check.input dense<0.0> : tensor<f32>
  %loss = weir.loss [1.0] sums(%zero) counts(%zero) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect %loss, dense<0.0> : tensor<f32> exactly
  return
}

// A loss over microbatches is that of all their rows, not the mean of theirs.
func.func @over_microbatches() {
  %x = check.input dense<[1.0, 0.0, 3.0, 4.0, 5.0, 0.0]> : tensor<6xf32>
  %s, %n = weir.microbatches 3 sliced(%x) carried() : (tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %none = weir.constant 0.0 : f32 -> tensor<2xf32>
    %there = weir.compare gt %part, %none : tensor<2xf32> -> tensor<2xi1>
    %ones = weir.cast %there : tensor<2xi1> -> tensor<2xf32>
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %count = weir.reduce sum %ones {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    weir.yield %sum, %count : tensor<f32>, tensor<f32>
  }
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect %loss, dense<3.25> : tensor<f32> exactly
  return
}
