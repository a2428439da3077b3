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

// What was not selected has no gradient, whatever its derivative: that of sqrt at -1 is no number, that of log at 0 is infinite, as
// are exp(100) and what it is multiplied with.
func.func @of_a_root_that_was_not_selected() {
  %x = check.input dense<[-1.0, 0.0, 4.0]> : tensor<3xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<3xf32>
  %c = weir.compare gt %x, %zero : tensor<3xf32> -> tensor<3xi1>
  %root = weir.sqrt %x : tensor<3xf32>
  %y = weir.select %c, %root, %zero : tensor<3xi1>, tensor<3xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect %g, dense<[0.0, 0.0, 0.25]> : tensor<3xf32>
  return
}

func.func @of_a_product_that_was_not_selected() {
  %x = check.input dense<[100.0, 0.0, 2.0]> : tensor<3xf32>
  %a = check.input dense<[3.0, 0.5, -1.0]> : tensor<3xf32>
  %one = weir.constant 1.0 : f32 -> tensor<3xf32>
  %c = weir.compare eq %x, %one : tensor<3xf32> -> tensor<3xi1>
  %e = weir.exp %x : tensor<3xf32>
  %l = weir.log %x : tensor<3xf32>
  %d = weir.div %e, %l : tensor<3xf32>
  %p = weir.mul %d, %a : tensor<3xf32>
  %y = weir.select %c, %p, %a : tensor<3xi1>, tensor<3xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %gx, %ga = weir.gradient %loss wrt(%x, %a) : (tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  check.expect %gx, dense<0.0> : tensor<3xf32> exactly
  check.expect %ga, dense<1.0> : tensor<3xf32>
  return
}

// On both branches, and one within the other: x^3 above 1, 1 / x from 0.5 to 1, log(1 + x) below.
func.func @of_nested_selections() {
  %x = check.input dense<[2.0, 0.75, 0.0, -1.0]> : tensor<4xf32>
  %one = weir.constant 1.0 : f32 -> tensor<4xf32>
  %half = weir.constant 0.5 : f32 -> tensor<4xf32>
  %none = weir.constant -0.5 : f32 -> tensor<4xf32>
  %large = weir.compare gt %x, %one : tensor<4xf32> -> tensor<4xi1>
  %middle = weir.compare gt %x, %half : tensor<4xf32> -> tensor<4xi1>
  %small = weir.compare gt %x, %none : tensor<4xf32> -> tensor<4xi1>
  %square = weir.mul %x, %x : tensor<4xf32>
  %cube = weir.mul %square, %x : tensor<4xf32>
  %inverse = weir.div %one, %x : tensor<4xf32>
  %more = weir.add %x, %one : tensor<4xf32>
  %l = weir.log %more : tensor<4xf32>
  %lowest = weir.select %small, %l, %one : tensor<4xi1>, tensor<4xf32>
  %lower = weir.select %middle, %inverse, %lowest : tensor<4xi1>, tensor<4xf32>
  %y = weir.select %large, %cube, %lower : tensor<4xi1>, tensor<4xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  check.expect %g, dense<[12.0, -1.7777778, 1.0, 0.0]> : tensor<4xf32>
  return
}

// A selection of a row that is repeated, sliced, turned over, joined and cut: what no place selects has no gradient. An element that is
// used outside of the selection too has that gradient.
func.func @through_moved_elements() {
  %x = check.input dense<[4.0, -1.0, 9.0, 0.0]> : tensor<4xf32>
  %c = check.input dense<[[true, false], [true, false], [false, false]]> : tensor<3x2xi1>
  %root = weir.sqrt %x : tensor<4xf32>
  %first = weir.slice %root {offsets = array<i64: 0>, strides = array<i64: 1>} : tensor<4xf32> -> tensor<2xf32>
  %last = weir.slice %root {offsets = array<i64: 2>, strides = array<i64: 1>} : tensor<4xf32> -> tensor<2xf32>
  %all = weir.concat %last, %first {dimension = 0 : i64} : tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>
  %square = weir.split_dim %all {dimension = 0 : i64, sizes = array<i64: 2, 2>} : tensor<4xf32> -> tensor<2x2xf32>
  %turned = weir.transpose %square {permutation = array<i64: 1, 0>} : tensor<2x2xf32> -> tensor<2x2xf32>
  %flat = weir.merge_dims %turned {first = 0 : i64, count = 2 : i64} : tensor<2x2xf32> -> tensor<4xf32>
  %front = weir.slice %flat {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<4xf32> -> tensor<2xf32>
  %rows = weir.broadcast %front {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<3x2xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<3x2xf32>
  %y = weir.select %c, %rows, %zero : tensor<3x2xi1>, tensor<3x2xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<3x2xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  check.expect %g, dense<[0.5, 0.0, 0.0, 0.0]> : tensor<4xf32>
  return
}

func.func @of_what_is_used_beside_a_selection() {
  %x = check.input dense<[4.0, 1.0]> : tensor<2xf32>
  %c = check.input dense<[true, false]> : tensor<2xi1>
  %root = weir.sqrt %x : tensor<2xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<2xf32>
  %y = weir.select %c, %root, %zero : tensor<2xi1>, tensor<2xf32>
  %z = weir.add %y, %root : tensor<2xf32>
  %loss = weir.reduce sum %z {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect %g, dense<[0.5, 0.5]> : tensor<2xf32>
  return
}

// Two selections of one value: the gradient is nonzero where either selects it.
func.func @of_a_value_selected_twice() {
  %x = check.input dense<[4.0, 1.0, -1.0]> : tensor<3xf32>
  %c = check.input dense<[true, false, false]> : tensor<3xi1>
  %d = check.input dense<[true, true, false]> : tensor<3xi1>
  %root = weir.sqrt %x : tensor<3xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<3xf32>
  %y = weir.select %c, %root, %zero : tensor<3xi1>, tensor<3xf32>
  %z = weir.select %d, %root, %y : tensor<3xi1>, tensor<3xf32>
  %loss = weir.reduce sum %z {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect %g, dense<[0.25, 0.5, 0.0]> : tensor<3xf32>
  return
}
