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
