// RUN: weir-check %s

// Segment 1 is empty.
func.func @rows() {
  %x = check.input dense<[[-0.25, 0.0, 2.0], [3.75, -3.75, -3.0], [2.75, 3.75, -2.0],
      [-1.5, 3.0, -0.75], [-1.75, 2.75, -2.0]]> : tensor<5x3xf32>
  %i = check.input dense<[2, 0, 2, 3, 2]> : tensor<5xi32>
  %r = weir.segment_sum %x, %i : tensor<5x3xf32>, tensor<5xi32> -> tensor<4x3xf32>
  check.expect %r, dense<[[3.75, -3.75, -3.0], [0.0, 0.0, 0.0], [0.75, 6.5, -2.0],
      [-1.5, 3.0, -0.75]]> : tensor<4x3xf32> exactly
  return
}

func.func @indices_of_two_dimensions() {
  %x = check.input dense<[[[2.75, -2.0], [-3.25, -1.75], [-0.75, 2.5]], [[-0.5, -3.25],
      [-1.25, 0.75], [2.5, 2.0]]]> : tensor<2x3x2xf32>
  %i = check.input dense<[[1, 0, 1], [1, 1, 0]]> : tensor<2x3xi32>
  %r = weir.segment_sum %x, %i : tensor<2x3x2xf32>, tensor<2x3xi32> -> tensor<2x2xf32>
  check.expect %r, dense<[[-0.75, 0.25], [0.25, -2.0]]> : tensor<2x2xf32> exactly
  return
}

func.func @single_elements() {
  %x = check.input dense<[2.5, -3.5, -2.75, -2.25, -2.75, 2.5, 3.0, 0.75, -3.75, -3.25, -1.5, -0.5,
      1.0, -0.25, -2.0, -2.75, 1.5]> : tensor<17xf32>
  %i = check.input dense<[4, 0, 0, 1, 0, 4, 4, 2, 0, 0, 1, 2, 3, 2, 1, 0, 3]> : tensor<17xi32>
  %r = weir.segment_sum %x, %i : tensor<17xf32>, tensor<17xi32> -> tensor<6xf32>
  check.expect %r, dense<[-18.75, -5.75, 0.0, 2.5, 8.0, 0.0]> : tensor<6xf32> exactly
  return
}

func.func @rows_of_seventeen() {
  %x = check.input dense<[[1.75, 3.75, 3.25, 0.0, 3.75, 4.0, 4.0, -3.5, -0.5, 1.0, -1.75, -1.0, 1.0,
      2.5, 0.75, -2.75, 1.5], [3.0, -2.25, 0.25, -1.25, 3.25, -3.75, -0.25, 3.25, -0.5, -3.0, 2.5,
      3.75, 4.0, 3.5, -1.0, 2.0, 3.75], [0.5, 3.5, 0.75, -2.75, -0.25, 1.0, -1.5, 1.75, -0.75, 3.75,
      -2.5, 1.25, -3.5, -3.0, 0.25, 0.0, 0.0]]> : tensor<3x17xf32>
  %i = check.input dense<1> : tensor<3xi32>
  %r = weir.segment_sum %x, %i : tensor<3x17xf32>, tensor<3xi32> -> tensor<2x17xf32>
  check.expect %r, dense<
      [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [5.25,
      5.0, 4.25, -4.0, 6.75, 1.25, 2.25, 1.5, -1.75, 1.75, -1.75, 4.0, 1.5, 3.0, 0.0, -0.75,
      5.25]]> : tensor<2x17xf32> exactly
  return
}

func.func @an_index_outside_picks_no_row() {
  %x = check.input dense<[1.0, 2.0, 4.0, 8.0, 16.0]> : tensor<5xf32>
  %i = check.input dense<[-1, 3, 2147483647, -2147483648, 1]> : tensor<5xi32>
  %r = weir.segment_sum %x, %i : tensor<5xf32>, tensor<5xi32> -> tensor<3xf32>
  check.expect %r, dense<[0.0, 16.0, 0.0]> : tensor<3xf32> exactly
  return
}

// A single index of no dimension.
func.func @one_element() {
  %x = check.input dense<[2.5]> : tensor<1xf32>
  %i = check.input dense<0> : tensor<i32>
  %r = weir.segment_sum %x, %i : tensor<1xf32>, tensor<i32> -> tensor<1x1xf32>
  check.expect %r, dense<[[2.5]]> : tensor<1x1xf32> exactly
  return
}

func.func @infinite_and_not_a_number() {
  %x = check.input dense<[0x7F800000, 1.0, 0x7FC00000, 2.0, 0xFF800000]> : tensor<5xf32>
  %i = check.input dense<[0, 0, 1, 2, 3]> : tensor<5xi32>
  %r = weir.segment_sum %x, %i : tensor<5xf32>, tensor<5xi32> -> tensor<4xf32>
  check.expect %r, dense<[0x7F800000, 0x7FC00000, 2.0, 0xFF800000]> : tensor<4xf32> exactly
  return
}
