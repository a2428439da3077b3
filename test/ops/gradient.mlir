// RUN: weir-check %s

// d/dx of sum(x^3) is 3 x^2.
func.func @of_a_cube() {
  %x = check.input dense<[1.0, -2.0, 0.5]> : tensor<3xf32>
  %square = weir.mul %x, %x : tensor<3xf32>
  %cube = weir.mul %square, %x : tensor<3xf32>
  %loss = weir.reduce sum %cube {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect %g, dense<[3.0, 12.0, 0.75]> : tensor<3xf32>
  return
}

// d/da of sum(a b) is the sum of b's rows, d/db that of a's columns.
func.func @of_a_product_with_respect_to_both() {
  %a = check.input dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %b = check.input dense<[[1.0, -1.0, 2.0], [0.5, 0.0, 3.0]]> : tensor<2x3xf32>
  %p = weir.matmul %a, %b : tensor<3x2xf32>, tensor<2x3xf32> -> tensor<3x3xf32>
  %loss = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<3x3xf32> -> tensor<f32>
  %ga, %gb = weir.gradient %loss wrt(%a, %b)
    : (tensor<f32>, tensor<3x2xf32>, tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>)
  check.expect %ga, dense<[[2.0, 3.5], [2.0, 3.5], [2.0, 3.5]]> : tensor<3x2xf32>
  check.expect %gb, dense<[[9.0, 9.0, 9.0], [12.0, 12.0, 12.0]]> : tensor<2x3xf32>
  return
}

func.func @of_what_the_loss_does_not_depend_on() {
  %x = check.input dense<[1.0, 2.0]> : tensor<2xf32>
  %y = check.input dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %loss = weir.reduce sum %x {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
  %gx, %gy = weir.gradient %loss wrt(%x, %y)
    : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  check.expect %gx, dense<1.0> : tensor<2xf32> exactly
  check.expect %gy, dense<0.0> : tensor<3xf32> exactly
  return
}

// Of a value on the way, not of an input: d(sum(y^2))/dy is 2 y, where y = x + 1.
func.func @of_a_value_in_between() {
  %x = check.input dense<[1.0, -3.0]> : tensor<2xf32>
  %one = weir.constant 1.0 : f32 -> tensor<2xf32>
  %y = weir.add %x, %one : tensor<2xf32>
  %square = weir.mul %y, %y : tensor<2xf32>
  %loss = weir.reduce sum %square {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
  %gy = weir.gradient %loss wrt(%y) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect %gy, dense<[4.0, -4.0]> : tensor<2xf32>
  return
}

// A broadcast's gradient is a sum: d(sum(w x))/dw for a scalar w is sum(x), here of 17 numbers 0.5.
func.func @of_a_broadcast() {
  %w = check.input dense<2.0> : tensor<f32>
  %x = check.input dense<0.5> : tensor<17xf32>
  %all = weir.broadcast %w {dimensions = array<i64>} : tensor<f32> -> tensor<17xf32>
  %p = weir.mul %all, %x : tensor<17xf32>
  %loss = weir.reduce sum %p {axes = array<i64: 0>} : tensor<17xf32> -> tensor<f32>
  %gw, %gx = weir.gradient %loss wrt(%w, %x) : (tensor<f32>, tensor<f32>, tensor<17xf32>) -> (tensor<f32>, tensor<17xf32>)
  check.expect %gw, dense<8.5> : tensor<f32>
  check.expect %gx, dense<2.0> : tensor<17xf32>
  return
}

// Through microbatches: d/dw of sum(w x) / n is sum(x) / n, where n counts what is not zero.
func.func @over_microbatches() {
  %w = check.input dense<2.0> : tensor<f32>
  %x = check.input dense<[1.0, 0.0, 3.0, 4.0, 5.0, 0.0]> : tensor<6xf32>
  %s, %n = weir.microbatches 3 sliced(%x) carried() : (tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %none = weir.constant 0.0 : f32 -> tensor<2xf32>
    %there = weir.compare gt %part, %none : tensor<2xf32> -> tensor<2xi1>
    %ones = weir.cast %there : tensor<2xi1> -> tensor<2xf32>
    %all = weir.broadcast %w {dimensions = array<i64>} : tensor<f32> -> tensor<2xf32>
    %p = weir.mul %all, %part : tensor<2xf32>
    %sum = weir.reduce sum %p {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %count = weir.reduce sum %ones {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    weir.yield %sum, %count : tensor<f32>, tensor<f32>
  }
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect %g, dense<3.25> : tensor<f32>
  check.expect %loss, dense<6.5> : tensor<f32>
  return
}

// A static count stands behind the microbatches, and is of all of them.
func.func @over_microbatches_of_two_terms() {
  %w = check.input dense<[1.0, 2.0]> : tensor<2xf32>
  %x = check.input dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %s, %t = weir.microbatches 4 sliced(%x) carried() : (tensor<4x2xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<1x2xf32>):
    %row = weir.split_dim %w {dimension = 0 : i64, sizes = array<i64: 1, 2>} : tensor<2xf32> -> tensor<1x2xf32>
    %p = weir.mul %row, %part : tensor<1x2xf32>
    %square = weir.mul %row, %row : tensor<1x2xf32>
    %a = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<1x2xf32> -> tensor<f32>
    %b = weir.reduce sum %square {axes = array<i64: 0, 1>} : tensor<1x2xf32> -> tensor<f32>
    weir.yield %a, %b : tensor<f32>, tensor<f32>
  }
  %n = weir.constant 4.0 : f32 -> tensor<f32>
  %m = weir.constant 8.0 : f32 -> tensor<f32>
  %loss = weir.loss [1.0, 0.5] sums(%s, %t) counts(%n, %m)
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect %g, dense<[4.5, 6.0]> : tensor<2xf32>
  check.expect %loss, dense<15.25> : tensor<f32>
  return
}
