// RUN: weir-check %s

func.func @seventeen() {
  %i = weir.iota {dimension = 0 : i64} -> tensor<17xi32>
  check.expect %i, dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
      16]> : tensor<17xi32>
  return
}

func.func @along_each_dimension() {
  %a = weir.iota {dimension = 0 : i64} -> tensor<2x3x5xi32>
  %b = weir.iota {dimension = 1 : i64} -> tensor<2x3x5xi32>
  %c = weir.iota {dimension = 2 : i64} -> tensor<2x3x5xi32>
  check.expect %a, dense<[[[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [[1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]]]> : tensor<2x3x5xi32>
  check.expect %b, dense<[[[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [2, 2, 2, 2, 2]], [[0, 0, 0, 0, 0],
      [1, 1, 1, 1, 1], [2, 2, 2, 2, 2]]]> : tensor<2x3x5xi32>
  check.expect %c, dense<[[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], [[0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]]> : tensor<2x3x5xi32>
  return
}

func.func @one_element() {
  %i = weir.iota {dimension = 1 : i64} -> tensor<1x1xi32>
  check.expect %i, dense<[[0]]> : tensor<1x1xi32>
  return
}

// 0 + 1 + .. + 16, with what counts in the same kernel.
func.func @used_at_once() {
  %i = weir.iota {dimension = 1 : i64} -> tensor<3x17xi32>
  %f = weir.cast %i : tensor<3x17xi32> -> tensor<3x17xf32>
  %s = weir.reduce sum %f {axes = array<i64: 1>} : tensor<3x17xf32> -> tensor<3xf32>
  check.expect %s, dense<136.0> : tensor<3xf32> exactly
  return
}
