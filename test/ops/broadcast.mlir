// RUN: weir-check %s

func.func @a_scalar() {
  %x = check.input dense<2.5> : tensor<f32>
  %y = weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<3x17xf32>
  check.expect %y, dense<2.5> : tensor<3x17xf32> exactly
  return
}

func.func @into_each_dimension() {
  %x = check.input dense<[1.5, 3.0, 4.5]> : tensor<3xf32>
  %a = weir.broadcast %x {dimensions = array<i64: 0>} : tensor<3xf32> -> tensor<3x5xf32>
  %b = weir.broadcast %x {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<2x3x2xf32>
  %c = weir.broadcast %x {dimensions = array<i64: 2>} : tensor<3xf32> -> tensor<2x2x3xf32>
  check.expect %a, dense<[[1.5, 1.5, 1.5, 1.5, 1.5], [3.0, 3.0, 3.0, 3.0, 3.0],
      [4.5, 4.5, 4.5, 4.5, 4.5]]> : tensor<3x5xf32> exactly
  check.expect %b, dense<[[[1.5, 1.5], [3.0, 3.0], [4.5, 4.5]], [[1.5, 1.5], [3.0, 3.0],
      [4.5, 4.5]]]> : tensor<2x3x2xf32> exactly
  check.expect %c, dense<[[[1.5, 3.0, 4.5], [1.5, 3.0, 4.5]], [[1.5, 3.0, 4.5],
      [1.5, 3.0, 4.5]]]> : tensor<2x2x3xf32> exactly
  return
}

func.func @dimensions_of_size_one() {
  %x = check.input dense<[[-0.25], [0.0], [2.0]]> : tensor<3x1xf32>
  %y = weir.broadcast %x {dimensions = array<i64: 0, 1>} : tensor<3x1xf32> -> tensor<3x17xf32>
  %z = weir.broadcast %x {dimensions = array<i64: 0, 2>} : tensor<3x1xf32> -> tensor<3x2x4xf32>
  check.expect %y, dense<[[-0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25,
      -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25],
      [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [2.0,
      2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0,
      2.0]]> : tensor<3x17xf32> exactly
  check.expect %z, dense<[[[-0.25, -0.25, -0.25, -0.25], [-0.25, -0.25, -0.25, -0.25]],
      [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [[2.0, 2.0, 2.0, 2.0],
      [2.0, 2.0, 2.0, 2.0]]]> : tensor<3x2x4xf32> exactly
  return
}

func.func @whole_numbers_and_truth_values() {
  %i = check.input dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
      16]> : tensor<17xi32>
  %b = check.input dense<[true, false]> : tensor<2xi1>
  %u = check.input dense<[[255], [3]]> : tensor<2x1xui8>
  %j = weir.broadcast %i {dimensions = array<i64: 1>} : tensor<17xi32> -> tensor<2x17xi32>
  %c = weir.broadcast %b {dimensions = array<i64: 0>} : tensor<2xi1> -> tensor<2x3xi1>
  %v = weir.broadcast %u {dimensions = array<i64: 0, 1>} : tensor<2x1xui8> -> tensor<2x3xui8>
  check.expect %j, dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]]> : tensor<2x17xi32>
  check.expect %c, dense<[[true, true, true], [false, false, false]]> : tensor<2x3xi1>
  check.expect %v, dense<[[255, 255, 255], [3, 3, 3]]> : tensor<2x3xui8>
  return
}

func.func @twice() {
  %x = check.input dense<[1.0, 2.0]> : tensor<2xf32>
  %y = weir.broadcast %x {dimensions = array<i64: 0>} : tensor<2xf32> -> tensor<2x3xf32>
  %z = weir.broadcast %y {dimensions = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<2x2x3xf32>
  check.expect %z, dense<[[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]], [[1.0, 1.0, 1.0],
      [2.0, 2.0, 2.0]]]> : tensor<2x2x3xf32> exactly
  return
}
