// RUN: weir-check %s

func.func @rows() {
  %t = check.input dense<[[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [6.5, 7.5, 8.5], [9.5, 10.5, 11.5],
      [12.5, 13.5, 14.5]]> : tensor<5x3xf32>
  %i = check.input dense<[[4, 0], [2, 2]]> : tensor<2x2xi32>
  %r = weir.gather %t, %i : tensor<5x3xf32>, tensor<2x2xi32> -> tensor<2x2x3xf32>
  check.expect %r, dense<[[[12.5, 13.5, 14.5], [0.5, 1.5, 2.5]], [[6.5, 7.5, 8.5],
      [6.5, 7.5, 8.5]]]> : tensor<2x2x3xf32> exactly
  return
}

func.func @rows_of_seventeen() {
  %t = check.input dense<
      [[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0], [8.5,
      9.0, 9.5, 10.0, 10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5, 14.0, 14.5, 15.0, 15.5, 16.0, 16.5],
      [17.0, 17.5, 18.0, 18.5, 19.0, 19.5, 20.0, 20.5, 21.0, 21.5, 22.0, 22.5, 23.0, 23.5, 24.0,
      24.5, 25.0]]> : tensor<3x17xf32>
  %i = check.input dense<[2, 0]> : tensor<2xi32>
  %r = weir.gather %t, %i : tensor<3x17xf32>, tensor<2xi32> -> tensor<2x17xf32>
  check.expect %r, dense<[[17.0, 17.5, 18.0, 18.5, 19.0, 19.5, 20.0, 20.5, 21.0, 21.5, 22.0, 22.5,
      23.0, 23.5, 24.0, 24.5, 25.0], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5,
      6.0, 6.5, 7.0, 7.5, 8.0]]> : tensor<2x17xf32> exactly
  return
}

// A table of one dimension.
func.func @single_elements() {
  %t = check.input dense<[10, 20, 30]> : tensor<3xi32>
  %i = check.input dense<[1, 1, 0, 2, 0, 1, 2, 2, 1, 0, 0, 2, 1, 2, 0, 1, 2]> : tensor<17xi32>
  %r = weir.gather %t, %i : tensor<3xi32>, tensor<17xi32> -> tensor<17xi32>
  check.expect %r, dense<[20, 20, 10, 30, 10, 20, 30, 30, 20, 10, 10, 30, 20, 30, 10, 20,
      30]> : tensor<17xi32>
  return
}

func.func @one_index() {
  %t = check.input dense<[[1, 2], [200, 255]]> : tensor<2x2xui8>
  %i = check.input dense<1> : tensor<i32>
  %r = weir.gather %t, %i : tensor<2x2xui8>, tensor<i32> -> tensor<2xui8>
  check.expect %r, dense<[200, 255]> : tensor<2xui8>
  return
}

func.func @the_row_of_an_index_outside_is_zero() {
  %t = check.input dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %i = check.input dense<[-1, 3, 2147483647, -2147483648, 1]> : tensor<5xi32>
  %r = weir.gather %t, %i : tensor<3x2xf32>, tensor<5xi32> -> tensor<5x2xf32>
  check.expect %r, dense<[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0],
      [3.0, 4.0]]> : tensor<5x2xf32> exactly
  return
}

// Not the constant that the table is.
func.func @of_a_constant_table() {
  %t = weir.constant 3.0 : f32 -> tensor<3x2xf32>
  %i = check.input dense<[-1, 1, 3]> : tensor<3xi32>
  %r = weir.gather %t, %i : tensor<3x2xf32>, tensor<3xi32> -> tensor<3x2xf32>
  check.expect %r, dense<[[0.0, 0.0], [3.0, 3.0], [0.0, 0.0]]> : tensor<3x2xf32> exactly
  return
}
