// RUN: weir-check %s

func.func @one_into_three() {
  %x = check.input dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5,
      14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5]> : tensor<24xf32>
  %y = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64: 2, 3, 4>} : tensor<24xf32> -> tensor<2x3x4xf32>
  check.expect %y, dense<[[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5]],
      [[12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<2x3x4xf32> exactly
  return
}

func.func @in_the_middle() {
  %x = check.input dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
      [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]]> : tensor<2x15xi32>
  %y = weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 5, 3>} : tensor<2x15xi32> -> tensor<2x5x3xi32>
  check.expect %y, dense<[[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14]],
      [[15, 16, 17], [18, 19, 20], [21, 22, 23], [24, 25, 26], [27, 28, 29]]]> : tensor<2x5x3xi32>
  return
}

func.func @sizes_of_one() {
  %x = check.input dense<[1.0, 2.0]> : tensor<2xf32>
  %y = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64: 1, 2, 1>} : tensor<2xf32> -> tensor<1x2x1xf32>
  check.expect %y, dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32> exactly
  return
}

func.func @a_dimension_of_size_one_goes() {
  %x = check.input dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %y = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64>} : tensor<1x2xf32> -> tensor<2xf32>
  check.expect %y, dense<[1.0, 2.0]> : tensor<2xf32> exactly
  return
}

func.func @then_computed_with() {
  %x = check.input dense<[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0,
      3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75, 5.0, 5.25, 5.5, 5.75, 6.0, 6.25, 6.5, 6.75, 7.0, 7.25,
      7.5, 7.75, 8.0, 8.25]> : tensor<34xf32>
  %y = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64: 17, 2>} : tensor<34xf32> -> tensor<17x2xf32>
  %s = weir.reduce sum %y {axes = array<i64: 1>} : tensor<17x2xf32> -> tensor<17xf32>
  check.expect %s, dense<[0.25, 1.25, 2.25, 3.25, 4.25, 5.25, 6.25, 7.25, 8.25, 9.25, 10.25, 11.25,
      12.25, 13.25, 14.25, 15.25, 16.25]> : tensor<17xf32> exactly
  return
}
