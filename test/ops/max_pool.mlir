// RUN: weir-check %s

func.func @side_by_side() {
  %x = check.input dense<[[[2.75, 2.5, 3.0, 9.0, 3.25, -1.0], [1.5, 5.75, 10.5, 2.0, 10.75, 4.75],
      [5.25, 3.5, 6.5, 2.25, 1.25, 5.0], [4.25, 6.25, 0.75, 3.75, 9.25, 7.25]],
      [[9.75, 8.25, 8.75, 0.25, 8.0, 6.75], [-0.25, 4.5, 7.5, 5.5, 7.75, 0.5],
      [10.25, 10.0, -0.75, 7.0, 4.0, 0.0], [1.0, 9.5, 1.75, 6.0, -0.5, 8.5]]]> : tensor<2x4x6xf32>
  %y = weir.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<2x4x6xf32> -> tensor<2x2x3xf32>
  check.expect %y, dense<[[[5.75, 10.5, 10.75], [6.25, 6.5, 9.25]], [[9.75, 8.75, 8.0],
      [10.25, 7.0, 8.5]]]> : tensor<2x2x3xf32> exactly
  return
}

func.func @overlapping() {
  %x = check.input dense<[[[1.0, 0.25, 2.75, 5.0, 0.0], [1.25, -1.0, 1.75, 3.75, -0.5],
      [4.0, -0.75, 2.0, 4.25, -0.25], [3.5, 3.0, 3.25, 1.5, 4.5],
      [0.75, 2.5, 2.25, 0.5, 4.75]]]> : tensor<1x5x5xf32>
  %y = weir.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 1, 2>} : tensor<1x5x5xf32> -> tensor<1x3x2xf32>
  check.expect %y, dense<[[[4.0, 5.0], [4.0, 4.5], [4.0, 4.75]]]> : tensor<1x3x2xf32> exactly
  return
}

// Rows and columns that no window reaches.
func.func @rest_is_left_out() {
  %x = check.input dense<[[[[14.75, 5.0, 7.0, 12.5, 0.0, 14.5, 9.0],
      [5.5, 3.5, 0.75, 14.25, 3.25, 8.25, 16.25], [13.75, 10.0, 9.5, 0.25, -0.75, 4.25, 15.75],
      [6.0, 11.0, 5.75, 15.0, 4.0, 12.75, 11.5], [-0.5, 13.25, 6.25, 5.25, 7.25, 4.75, 8.75]],
      [[2.75, 1.25, 6.75, 11.75, 3.0, 14.0, -0.25], [7.5, 6.5, 1.5, 13.0, 16.0, 0.5, 8.5],
      [13.5, 1.75, 12.0, 9.25, 10.5, 4.5, 3.75], [7.75, -1.0, 10.75, 11.25, 10.25, 2.0, 12.25],
      [9.75, 2.5, 2.25, 15.5, 8.0, 15.25, 1.0]]]]> : tensor<1x2x5x7xf32>
  %y = weir.max_pool %x {window = array<i64: 2, 3>, strides = array<i64: 2, 3>} : tensor<1x2x5x7xf32> -> tensor<1x2x2x2xf32>
  check.expect %y, dense<[[[[14.75, 14.5], [13.75, 15.0]], [[7.5, 16.0],
      [13.5, 11.25]]]]> : tensor<1x2x2x2xf32> exactly
  return
}

// Between the windows.
func.func @gaps() {
  %x = check.input dense<[[[0.25, -0.75, 2.25, 2.0, 1.5], [5.0, 0.75, 3.0, -0.5, 3.5],
      [1.0, 0.5, 4.75, 1.75, 4.25], [3.75, 1.25, 2.5, 3.25, 0.0],
      [4.0, 2.75, 4.5, -1.0, -0.25]]]> : tensor<1x5x5xf32>
  %y = weir.max_pool %x {window = array<i64: 1, 2>, strides = array<i64: 2, 3>} : tensor<1x5x5xf32> -> tensor<1x3x2xf32>
  check.expect %y, dense<[[[0.25, 2.0], [1.0, 4.25], [4.0, -0.25]]]> : tensor<1x3x2xf32> exactly
  return
}

func.func @seventeen_columns() {
  %x = check.input dense<[[[-0.5, 9.0, 10.75, 8.5, 3.0, 14.25, 14.75, 1.0, 5.75, 12.0, 14.5, -0.75,
      13.5, 6.75, 10.5, 13.25, 6.25], [9.75, 11.0, 9.25, 15.25, 14.0, -1.0, 15.0, 0.25, 12.25, 7.25,
      3.5, 9.5, 7.0, 7.75, 11.25, 15.75, 2.5]], [[2.75, 4.5, 5.5, 2.25, 4.0, 2.0, 10.0, 12.5, 5.25,
      13.0, 0.0, 1.25, 15.5, 10.25, 3.25, 8.0, 11.5], [-0.25, 4.75, 1.5, 6.0, 12.75, 1.75, 5.0,
      8.75, 6.5, 11.75, 13.75, 4.25, 7.5, 3.75, 8.25, 0.5, 0.75]]]> : tensor<2x2x17xf32>
  %y = weir.max_pool %x {window = array<i64: 2, 1>, strides = array<i64: 1, 1>} : tensor<2x2x17xf32> -> tensor<2x1x17xf32>
  check.expect %y, dense<[[[9.75, 11.0, 10.75, 15.25, 14.0, 14.25, 15.0, 1.0, 12.25, 12.0, 14.5,
      9.5, 13.5, 7.75, 11.25, 15.75, 6.25]], [[2.75, 4.75, 5.5, 6.0, 12.75, 2.0, 10.0, 12.5, 6.5,
      13.0, 13.75, 4.25, 15.5, 10.25, 8.25, 8.0, 11.5]]]> : tensor<2x1x17xf32> exactly
  return
}

func.func @one_element() {
  %x = check.input dense<[[-1.0]]> : tensor<1x1xf32>
  %y = weir.max_pool %x {window = array<i64: 1, 1>, strides = array<i64: 1, 1>} : tensor<1x1xf32> -> tensor<1x1xf32>
  check.expect %y, dense<[[-1.0]]> : tensor<1x1xf32> exactly
  return
}

func.func @special_values() {
  %x = check.input dense<[[0x7FC00000, 1.0, 0x7F800000, 2.0, 0xFF800000, 0xFF800000, -0.0, 0.0, 1.0,
      0x7FC00000, 0x7F800000, 0x7FC00000]]> : tensor<1x12xf32>
  %y = weir.max_pool %x {window = array<i64: 1, 2>, strides = array<i64: 1, 2>} : tensor<1x12xf32> -> tensor<1x6xf32>
  check.expect %y, dense<[[0x7FC00000, 0x7F800000, 0xFF800000, 0.0, 0x7FC00000, 0x7FC00000]]> : tensor<1x6xf32> exactly
  return
}
