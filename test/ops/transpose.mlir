// RUN: weir-check %s

func.func @three_by_seventeen() {
  %x = check.input dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
      [17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33],
      [34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50]]> : tensor<3x17xi32>
  %y = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<3x17xi32> -> tensor<17x3xi32>
  check.expect %y, dense<[[0, 17, 34], [1, 18, 35], [2, 19, 36], [3, 20, 37], [4, 21, 38],
      [5, 22, 39], [6, 23, 40], [7, 24, 41], [8, 25, 42], [9, 26, 43], [10, 27, 44], [11, 28, 45],
      [12, 29, 46], [13, 30, 47], [14, 31, 48], [15, 32, 49], [16, 33, 50]]> : tensor<17x3xi32>
  return
}

func.func @every_permutation_of_three() {
  %x = check.input dense<[[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5]],
      [[12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<2x3x4xf32>
  %p012 = weir.transpose %x {permutation = array<i64: 0, 1, 2>} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  %p021 = weir.transpose %x {permutation = array<i64: 0, 2, 1>} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %p102 = weir.transpose %x {permutation = array<i64: 1, 0, 2>} : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %p120 = weir.transpose %x {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %p201 = weir.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %p210 = weir.transpose %x {permutation = array<i64: 2, 1, 0>} : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  check.expect %p012, dense<[[[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5], [8.5, 9.5, 10.5, 11.5]],
      [[12.5, 13.5, 14.5, 15.5], [16.5, 17.5, 18.5, 19.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<2x3x4xf32> exactly
  check.expect %p021, dense<[[[0.5, 4.5, 8.5], [1.5, 5.5, 9.5], [2.5, 6.5, 10.5], [3.5, 7.5, 11.5]],
      [[12.5, 16.5, 20.5], [13.5, 17.5, 21.5], [14.5, 18.5, 22.5],
      [15.5, 19.5, 23.5]]]> : tensor<2x4x3xf32> exactly
  check.expect %p102, dense<[[[0.5, 1.5, 2.5, 3.5], [12.5, 13.5, 14.5, 15.5]],
      [[4.5, 5.5, 6.5, 7.5], [16.5, 17.5, 18.5, 19.5]], [[8.5, 9.5, 10.5, 11.5],
      [20.5, 21.5, 22.5, 23.5]]]> : tensor<3x2x4xf32> exactly
  check.expect %p120, dense<[[[0.5, 12.5], [1.5, 13.5], [2.5, 14.5], [3.5, 15.5]], [[4.5, 16.5],
      [5.5, 17.5], [6.5, 18.5], [7.5, 19.5]], [[8.5, 20.5], [9.5, 21.5], [10.5, 22.5],
      [11.5, 23.5]]]> : tensor<3x4x2xf32> exactly
  check.expect %p201, dense<[[[0.5, 4.5, 8.5], [12.5, 16.5, 20.5]], [[1.5, 5.5, 9.5],
      [13.5, 17.5, 21.5]], [[2.5, 6.5, 10.5], [14.5, 18.5, 22.5]], [[3.5, 7.5, 11.5],
      [15.5, 19.5, 23.5]]]> : tensor<4x2x3xf32> exactly
  check.expect %p210, dense<[[[0.5, 12.5], [4.5, 16.5], [8.5, 20.5]], [[1.5, 13.5], [5.5, 17.5],
      [9.5, 21.5]], [[2.5, 14.5], [6.5, 18.5], [10.5, 22.5]], [[3.5, 15.5], [7.5, 19.5],
      [11.5, 23.5]]]> : tensor<4x3x2xf32> exactly
  return
}

// What attention does with its heads.
func.func @heads() {
  %x = check.input dense<[[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]], [[8.0, 9.0],
      [10.0, 11.0]]], [[[12.0, 13.0], [14.0, 15.0]], [[16.0, 17.0], [18.0, 19.0]], [[20.0, 21.0],
      [22.0, 23.0]]]]> : tensor<2x3x2x2xf32>
  %y = weir.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x3x2x2xf32> -> tensor<2x2x3x2xf32>
  check.expect %y, dense<[[[[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0],
      [10.0, 11.0]]], [[[12.0, 13.0], [16.0, 17.0], [20.0, 21.0]], [[14.0, 15.0], [18.0, 19.0],
      [22.0, 23.0]]]]> : tensor<2x2x3x2xf32> exactly
  return
}

func.func @one_element() {
  %x = check.input dense<[[7.0]]> : tensor<1x1xf32>
  %y = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<1x1xf32> -> tensor<1x1xf32>
  check.expect %y, dense<[[7.0]]> : tensor<1x1xf32> exactly
  return
}

func.func @truth_values_and_bytes() {
  %b = check.input dense<[[true, false, false, false, false],
      [true, true, true, false, false]]> : tensor<2x5xi1>
  %u = check.input dense<[[1, 200, 3], [255, 5, 6]]> : tensor<2x3xui8>
  %c = weir.transpose %b {permutation = array<i64: 1, 0>} : tensor<2x5xi1> -> tensor<5x2xi1>
  %v = weir.transpose %u {permutation = array<i64: 1, 0>} : tensor<2x3xui8> -> tensor<3x2xui8>
  check.expect %c, dense<[[true, true], [false, true], [false, true], [false, false],
      [false, false]]> : tensor<5x2xi1>
  check.expect %v, dense<[[1, 255], [200, 5], [3, 6]]> : tensor<3x2xui8>
  return
}

func.func @back_again() {
  %x = check.input dense<[[-0.75, 3.0, 3.75], [-1.75, -3.25, 0.75]]> : tensor<2x3xf32>
  %y = weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  %z = weir.transpose %y {permutation = array<i64: 1, 0>} : tensor<3x2xf32> -> tensor<2x3xf32>
  check.expect %z, dense<[[-0.75, 3.0, 3.75], [-1.75, -3.25, 0.75]]> : tensor<2x3xf32> exactly
  return
}
