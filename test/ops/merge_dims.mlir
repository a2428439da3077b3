// RUN: weir-check %s

func.func @three_into_one() {
  %x = check.input dense<[[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5]],
      [[12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<2x3x4xf32>
  %y = weir.merge_dims %x {first = 0 : i64, count = 3 : i64} : tensor<2x3x4xf32> -> tensor<24xf32>
  check.expect %y, dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5,
      14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5]> : tensor<24xf32> exactly
  return
}

func.func @first_two_and_last_two() {
  %x = check.input dense<[[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5]],
      [[12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<2x3x4xf32>
  %y = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %z = weir.merge_dims %x {first = 1 : i64, count = 2 : i64} : tensor<2x3x4xf32> -> tensor<2x12xf32>
  check.expect %y, dense<[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5],
      [12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]> : tensor<6x4xf32> exactly
  check.expect %z, dense<[[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5], [12.5,
      13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5]]> : tensor<2x12xf32> exactly
  return
}

func.func @count_zero_inserts_a_dimension() {
  %x = check.input dense<[1, 2, 3]> : tensor<3xi32>
  %a = weir.merge_dims %x {first = 0 : i64, count = 0 : i64} : tensor<3xi32> -> tensor<1x3xi32>
  %b = weir.merge_dims %x {first = 1 : i64, count = 0 : i64} : tensor<3xi32> -> tensor<3x1xi32>
  %s = check.input dense<5.0> : tensor<f32>
  %c = weir.merge_dims %s {first = 0 : i64, count = 0 : i64} : tensor<f32> -> tensor<1xf32>
  check.expect %a, dense<[[1, 2, 3]]> : tensor<1x3xi32>
  check.expect %b, dense<[[1], [2], [3]]> : tensor<3x1xi32>
  check.expect %c, dense<[5.0]> : tensor<1xf32>
  return
}

// The elements in their new order: no view of what is in memory.
func.func @of_a_transpose() {
  %x = check.input dense<[[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0,
      3.25, 3.5, 3.75, 4.0], [4.25, 4.5, 4.75, 5.0, 5.25, 5.5, 5.75, 6.0, 6.25, 6.5, 6.75, 7.0,
      7.25, 7.5, 7.75, 8.0, 8.25]]> : tensor<2x17xf32>
  %t = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x17xf32> -> tensor<17x2xf32>
  %y = weir.merge_dims %t {first = 0 : i64, count = 2 : i64} : tensor<17x2xf32> -> tensor<34xf32>
  check.expect %y, dense<[0.0, 4.25, 0.25, 4.5, 0.5, 4.75, 0.75, 5.0, 1.0, 5.25, 1.25, 5.5, 1.5,
      5.75, 1.75, 6.0, 2.0, 6.25, 2.25, 6.5, 2.5, 6.75, 2.75, 7.0, 3.0, 7.25, 3.25, 7.5, 3.5, 7.75,
      3.75, 8.0, 4.0, 8.25]> : tensor<34xf32> exactly
  return
}
