// RUN: weir-check %s

func.func @along_the_last_dimension() {
  %a = check.input dense<[[-0.25, 0.0, 2.0], [3.75, -3.75, -3.0]]> : tensor<2x3xf32>
  %b = check.input dense<[[2.75], [-2.0]]> : tensor<2x1xf32>
  %c = check.input dense<[[2.5, -3.5, -2.75, -2.25], [-2.75, 2.5, 3.0, 0.75]]> : tensor<2x4xf32>
  %r = weir.concat %a, %b, %c {dimension = 1 : i64} : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32> -> tensor<2x8xf32>
  check.expect %r, dense<[[-0.25, 0.0, 2.0, 2.75, 2.5, -3.5, -2.75, -2.25],
      [3.75, -3.75, -3.0, -2.0, -2.75, 2.5, 3.0, 0.75]]> : tensor<2x8xf32> exactly
  return
}

func.func @along_the_first_dimension() {
  %a = check.input dense<[[1.75, 3.75, 3.25]]> : tensor<1x3xf32>
  %b = check.input dense<[[1.5, 2.5, -4.0], [2.5, -0.25, 0.25], [1.0, -1.75, 4.0],
      [-3.75, -1.75, -1.0]]> : tensor<4x3xf32>
  %r = weir.concat %a, %b {dimension = 0 : i64} : tensor<1x3xf32>, tensor<4x3xf32> -> tensor<5x3xf32>
  check.expect %r, dense<[[1.75, 3.75, 3.25], [1.5, 2.5, -4.0], [2.5, -0.25, 0.25],
      [1.0, -1.75, 4.0], [-3.75, -1.75, -1.0]]> : tensor<5x3xf32> exactly
  return
}

func.func @seventeen_and_twenty_three() {
  %a = check.input dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
      16]> : tensor<17xi32>
  %b = check.input dense<[100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114,
      115, 116, 117, 118, 119, 120, 121, 122]> : tensor<23xi32>
  %r = weir.concat %a, %b {dimension = 0 : i64} : tensor<17xi32>, tensor<23xi32> -> tensor<40xi32>
  check.expect %r, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 100, 101, 102,
      103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121,
      122]> : tensor<40xi32>
  return
}

func.func @with_itself() {
  %a = check.input dense<[[[-0.5, 0.25]], [[0.25, -1.25]]]> : tensor<2x1x2xf32>
  %r = weir.concat %a, %a, %a {dimension = 1 : i64} : tensor<2x1x2xf32>, tensor<2x1x2xf32>, tensor<2x1x2xf32> -> tensor<2x3x2xf32>
  check.expect %r, dense<[[[-0.5, 0.25], [-0.5, 0.25], [-0.5, 0.25]], [[0.25, -1.25], [0.25, -1.25],
      [0.25, -1.25]]]> : tensor<2x3x2xf32> exactly
  return
}

func.func @one_input() {
  %a = check.input dense<[true, false]> : tensor<2xi1>
  %r = weir.concat %a {dimension = 0 : i64} : tensor<2xi1> -> tensor<2xi1>
  check.expect %r, dense<[true, false]> : tensor<2xi1>
  return
}

func.func @of_computed_parts() {
  %a = check.input dense<[[3.75, 1.0, 1.5], [3.25, 0.75, 2.25]]> : tensor<2x3xf32>
  %n = weir.neg %a : tensor<2x3xf32>
  %d = weir.add %a, %a : tensor<2x3xf32>
  %r = weir.concat %n, %d {dimension = 1 : i64} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  check.expect %r, dense<[[-3.75, -1.0, -1.5, 7.5, 2.0, 3.0],
      [-3.25, -0.75, -2.25, 6.5, 1.5, 4.5]]> : tensor<2x6xf32> exactly
  return
}
