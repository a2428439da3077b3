// RUN: weir-check %s

// Nothing, around it, between the elements, and between the rows.
func.func @offsets_and_strides() {
  %x = check.input dense<[[1.5, 3.0, 4.5], [6.0, 7.5, 9.0]]> : tensor<2x3xf32>
  %a = weir.pad %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %b = weir.pad %x {offsets = array<i64: 1, 2>, strides = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<4x6xf32>
  %c = weir.pad %x {offsets = array<i64: 0, 1>, strides = array<i64: 2, 3>} : tensor<2x3xf32> -> tensor<3x8xf32>
  %d = weir.pad %x {offsets = array<i64: 2, 0>, strides = array<i64: 3, 1>} : tensor<2x3xf32> -> tensor<7x3xf32>
  check.expect %a, dense<[[1.5, 3.0, 4.5], [6.0, 7.5, 9.0]]> : tensor<2x3xf32> exactly
  check.expect %b, dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.5, 3.0, 4.5, 0.0],
      [0.0, 0.0, 6.0, 7.5, 9.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<4x6xf32> exactly
  check.expect %c, dense<[[0.0, 1.5, 0.0, 0.0, 3.0, 0.0, 0.0, 4.5],
      [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
      [0.0, 6.0, 0.0, 0.0, 7.5, 0.0, 0.0, 9.0]]> : tensor<3x8xf32> exactly
  check.expect %d, dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.5, 3.0, 4.5], [0.0, 0.0, 0.0],
      [0.0, 0.0, 0.0], [6.0, 7.5, 9.0], [0.0, 0.0, 0.0]]> : tensor<7x3xf32> exactly
  return
}

func.func @seventeen_of_thirty_four() {
  %x = check.input dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
      17]> : tensor<17xi32>
  %a = weir.pad %x {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<17xi32> -> tensor<34xi32>
  %b = weir.pad %x {offsets = array<i64: 17>, strides = array<i64: 1>} : tensor<17xi32> -> tensor<34xi32>
  check.expect %a, dense<[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12,
      0, 13, 0, 14, 0, 15, 0, 16, 0, 17]> : tensor<34xi32>
  check.expect %b, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
      9, 10, 11, 12, 13, 14, 15, 16, 17]> : tensor<34xi32>
  return
}

func.func @one_element() {
  %x = check.input dense<7.5> : tensor<f32>
  %y = weir.merge_dims %x {first = 0 : i64, count = 0 : i64} : tensor<f32> -> tensor<1xf32>
  %p = weir.pad %y {offsets = array<i64: 2>, strides = array<i64: 5>} : tensor<1xf32> -> tensor<4xf32>
  check.expect %p, dense<[0.0, 0.0, 7.5, 0.0]> : tensor<4xf32> exactly
  return
}

func.func @truth_values_and_bytes() {
  %x = check.input dense<[true, true]> : tensor<2xi1>
  %u = check.input dense<[200, 255]> : tensor<2xui8>
  %y = weir.pad %x {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<2xi1> -> tensor<5xi1>
  %v = weir.pad %u {offsets = array<i64: 0>, strides = array<i64: 1>} : tensor<2xui8> -> tensor<3xui8>
  check.expect %y, dense<[false, true, false, true, false]> : tensor<5xi1>
  check.expect %v, dense<[200, 255, 0]> : tensor<3xui8>
  return
}

func.func @nan_stays_in_its_place() {
  %x = check.input dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %y = weir.pad %x {offsets = array<i64: 1>, strides = array<i64: 1>} : tensor<2xf32> -> tensor<4xf32>
  check.expect %y, dense<[0.0, 0x7FC00000, 1.0, 0.0]> : tensor<4xf32> exactly
  return
}

// Of the rows in between nothing may be read, though a row's only element is the same for all columns.
func.func @one_column_between_others() {
  %x = check.input dense<[[0.5], [-0.25], [0.75]]> : tensor<3x1xf32>
  %p = weir.pad %x {offsets = array<i64: 2, 1>, strides = array<i64: 3, 3>} : tensor<3x1xf32> -> tensor<9x4xf32>
  %e = weir.exp %p : tensor<9x4xf32>
  %s = weir.reduce sum %e {axes = array<i64: 1>} : tensor<9x4xf32> -> tensor<9xf32>
  check.expect %p, dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0],
      [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, -0.25, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0],
      [0.0, 0.0, 0.0, 0.0], [0.0, 0.75, 0.0, 0.0]]> : tensor<9x4xf32> exactly
  check.expect %s, dense<[4.0, 4.0, 4.6487213, 4.0, 4.0, 3.7788008, 4.0, 4.0, 5.117]> : tensor<9xf32>
  return
}

// Whole registers of the result lie outside of the only row: they are 0, and nothing is read for them.
func.func @one_row_at_the_end_of_long_ones() {
  %x = check.input dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  %p = weir.pad %x {offsets = array<i64: 2, 12>, strides = array<i64: 1, 1>} : tensor<1x5xf32> -> tensor<3x17xf32>
  %s = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<3x17xf32> -> tensor<f32>
  %back = weir.slice %p {offsets = array<i64: 2, 12>, strides = array<i64: 1, 1>} : tensor<3x17xf32> -> tensor<1x5xf32>
  check.expect %s, dense<15.0> : tensor<f32> exactly
  check.expect_close %back, %x : tensor<1x5xf32>
  return
}

func.func @some_rows_of_many_registers() {
  %x = check.input dense<1.0> : tensor<1x3x70xf32>
  %p = weir.pad %x {offsets = array<i64: 2, 0, 41>, strides = array<i64: 3, 1, 1>} : tensor<1x3x70xf32> -> tensor<8x3x130xf32>
  %s = weir.reduce sum %p {axes = array<i64: 0, 2>} : tensor<8x3x130xf32> -> tensor<3xf32>
  check.expect %s, dense<70.0> : tensor<3xf32> exactly
  return
}
