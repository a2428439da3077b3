// RUN: weir-check %s

// All of it, a part, every second row and third column, and the last element.
func.func @offsets_and_strides() {
  %x = check.input dense<[[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
      [8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5],
      [16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5],
      [24.5, 25.5, 26.5, 27.5, 28.5, 29.5, 30.5, 31.5],
      [32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5, 39.5]]> : tensor<5x8xf32>
  %a = weir.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<5x8xf32> -> tensor<5x8xf32>
  %b = weir.slice %x {offsets = array<i64: 1, 2>, strides = array<i64: 1, 1>} : tensor<5x8xf32> -> tensor<3x5xf32>
  %c = weir.slice %x {offsets = array<i64: 0, 1>, strides = array<i64: 2, 3>} : tensor<5x8xf32> -> tensor<3x3xf32>
  %d = weir.slice %x {offsets = array<i64: 4, 7>, strides = array<i64: 1, 1>} : tensor<5x8xf32> -> tensor<1x1xf32>
  check.expect %a, dense<[[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
      [8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5],
      [16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5],
      [24.5, 25.5, 26.5, 27.5, 28.5, 29.5, 30.5, 31.5],
      [32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5, 39.5]]> : tensor<5x8xf32> exactly
  check.expect %b, dense<[[10.5, 11.5, 12.5, 13.5, 14.5], [18.5, 19.5, 20.5, 21.5, 22.5],
      [26.5, 27.5, 28.5, 29.5, 30.5]]> : tensor<3x5xf32> exactly
  check.expect %c, dense<[[1.5, 4.5, 7.5], [17.5, 20.5, 23.5],
      [33.5, 36.5, 39.5]]> : tensor<3x3xf32> exactly
  check.expect %d, dense<[[39.5]]> : tensor<1x1xf32> exactly
  return
}

func.func @seventeen_of_thirty_four() {
  %x = check.input dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
      21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33]> : tensor<34xi32>
  %a = weir.slice %x {offsets = array<i64: 0>, strides = array<i64: 2>} : tensor<34xi32> -> tensor<17xi32>
  %b = weir.slice %x {offsets = array<i64: 17>, strides = array<i64: 1>} : tensor<34xi32> -> tensor<17xi32>
  %c = weir.slice %x {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<34xi32> -> tensor<17xi32>
  check.expect %a, dense<[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
      32]> : tensor<17xi32>
  check.expect %b, dense<[17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
      33]> : tensor<17xi32>
  check.expect %c, dense<[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
      33]> : tensor<17xi32>
  return
}

func.func @truth_values() {
  %x = check.input dense<[[true, true, true, true, true, true],
      [true, false, false, true, false, false],
      [true, true, true, false, true, true]]> : tensor<3x6xi1>
  %y = weir.slice %x {offsets = array<i64: 1, 1>, strides = array<i64: 1, 2>} : tensor<3x6xi1> -> tensor<2x3xi1>
  check.expect %y, dense<[[false, true, false], [true, false, true]]> : tensor<2x3xi1>
  return
}

func.func @of_a_slice() {
  %x = check.input dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0,
      11.0]> : tensor<12xf32>
  %y = weir.slice %x {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<12xf32> -> tensor<5xf32>
  %z = weir.slice %y {offsets = array<i64: 1>, strides = array<i64: 2>} : tensor<5xf32> -> tensor<2xf32>
  check.expect %z, dense<[3.0, 7.0]> : tensor<2xf32> exactly
  return
}

// Inputs and labels of a language model.
func.func @windows_shifted_by_one() {
  %x = check.input dense<[[[0.0, 0.5, 1.0, 1.5, 2.0, 2.5], [3.0, 3.5, 4.0, 4.5, 5.0, 5.5],
      [6.0, 6.5, 7.0, 7.5, 8.0, 8.5]], [[9.0, 9.5, 10.0, 10.5, 11.0, 11.5],
      [12.0, 12.5, 13.0, 13.5, 14.0, 14.5],
      [15.0, 15.5, 16.0, 16.5, 17.0, 17.5]]]> : tensor<2x3x6xf32>
  %a = weir.slice %x {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<2x3x6xf32> -> tensor<2x3x5xf32>
  %b = weir.slice %x {offsets = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 1>} : tensor<2x3x6xf32> -> tensor<2x3x5xf32>
  %d = weir.sub %b, %a : tensor<2x3x5xf32>
  check.expect %d, dense<0.5> : tensor<2x3x5xf32> exactly
  return
}
