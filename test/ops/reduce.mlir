// RUN: weir-check %s

// Leading, inner and trailing axes, and all of them.
func.func @sums_along_all_axes() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0, 3.75, -3.75], [-3.0, 2.75, 3.75, -2.0, -1.5],
      [3.0, -0.75, -1.75, 2.75, -2.0]], [[-0.75, 1.25, 0.5, -3.5, -4.0],
      [3.0, 2.0, 2.75, 0.25, 2.5], [-1.5, -0.5, 2.5, -3.0, -1.5]]]> : tensor<2x3x5xf32>
  %s0 = weir.reduce sum %x {axes = array<i64: 0>} : tensor<2x3x5xf32> -> tensor<3x5xf32>
  %s1 = weir.reduce sum %x {axes = array<i64: 1>} : tensor<2x3x5xf32> -> tensor<2x5xf32>
  %s2 = weir.reduce sum %x {axes = array<i64: 2>} : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %s01 = weir.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x3x5xf32> -> tensor<5xf32>
  %s12 = weir.reduce sum %x {axes = array<i64: 1, 2>} : tensor<2x3x5xf32> -> tensor<2xf32>
  %s02 = weir.reduce sum %x {axes = array<i64: 0, 2>} : tensor<2x3x5xf32> -> tensor<3xf32>
  %s012 = weir.reduce sum %x {axes = array<i64: 0, 1, 2>} : tensor<2x3x5xf32> -> tensor<f32>
  check.expect %s0, dense<[[-1.0, 1.25, 2.5, 0.25, -7.75], [0.0, 4.75, 6.5, -1.75, 1.0],
      [1.5, -1.25, 0.75, -0.25, -3.5]]> : tensor<3x5xf32> exactly
  check.expect %s1, dense<[[-0.25, 2.0, 4.0, 4.5, -7.25],
      [0.75, 2.75, 5.75, -6.25, -3.0]]> : tensor<2x5xf32> exactly
  check.expect %s2, dense<[[1.75, 0.0, 1.25], [-6.5, 10.5, -4.0]]> : tensor<2x3xf32> exactly
  check.expect %s01, dense<[0.5, 4.75, 9.75, -1.75, -10.25]> : tensor<5xf32> exactly
  check.expect %s12, dense<[3.0, 0.0]> : tensor<2xf32> exactly
  check.expect %s02, dense<[-4.75, 10.5, -2.75]> : tensor<3xf32> exactly
  check.expect %s012, dense<3.0> : tensor<f32> exactly
  return
}

func.func @maxima_and_minima_along_all_axes() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0, 3.75, -3.75], [-3.0, 2.75, 3.75, -2.0, -1.5],
      [3.0, -0.75, -1.75, 2.75, -2.0]], [[-0.75, 1.25, 0.5, -3.5, -4.0],
      [3.0, 2.0, 2.75, 0.25, 2.5], [-1.5, -0.5, 2.5, -3.0, -1.5]]]> : tensor<2x3x5xf32>
  %hs0 = weir.reduce max %x {axes = array<i64: 0>} : tensor<2x3x5xf32> -> tensor<3x5xf32>
  %hs1 = weir.reduce max %x {axes = array<i64: 1>} : tensor<2x3x5xf32> -> tensor<2x5xf32>
  %hs2 = weir.reduce max %x {axes = array<i64: 2>} : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %hs01 = weir.reduce max %x {axes = array<i64: 0, 1>} : tensor<2x3x5xf32> -> tensor<5xf32>
  %hs12 = weir.reduce max %x {axes = array<i64: 1, 2>} : tensor<2x3x5xf32> -> tensor<2xf32>
  %ls2 = weir.reduce min %x {axes = array<i64: 2>} : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %ls01 = weir.reduce min %x {axes = array<i64: 0, 1>} : tensor<2x3x5xf32> -> tensor<5xf32>
  %ls12 = weir.reduce min %x {axes = array<i64: 1, 2>} : tensor<2x3x5xf32> -> tensor<2xf32>
  %ls02 = weir.reduce min %x {axes = array<i64: 0, 2>} : tensor<2x3x5xf32> -> tensor<3xf32>
  %ls012 = weir.reduce min %x {axes = array<i64: 0, 1, 2>} : tensor<2x3x5xf32> -> tensor<f32>
  check.expect %hs0, dense<[[-0.25, 1.25, 2.0, 3.75, -3.75], [3.0, 2.75, 3.75, 0.25, 2.5],
      [3.0, -0.5, 2.5, 2.75, -1.5]]> : tensor<3x5xf32> exactly
  check.expect %hs1, dense<[[3.0, 2.75, 3.75, 3.75, -1.5],
      [3.0, 2.0, 2.75, 0.25, 2.5]]> : tensor<2x5xf32> exactly
  check.expect %hs2, dense<[[3.75, 3.75, 3.0], [1.25, 3.0, 2.5]]> : tensor<2x3xf32> exactly
  check.expect %hs01, dense<[3.0, 2.75, 3.75, 3.75, 2.5]> : tensor<5xf32> exactly
  check.expect %hs12, dense<[3.75, 3.0]> : tensor<2xf32> exactly
  check.expect %ls2, dense<[[-3.75, -3.0, -2.0], [-4.0, 0.25, -3.0]]> : tensor<2x3xf32> exactly
  check.expect %ls01, dense<[-3.0, -0.75, -1.75, -3.5, -4.0]> : tensor<5xf32> exactly
  check.expect %ls12, dense<[-3.75, -4.0]> : tensor<2xf32> exactly
  check.expect %ls02, dense<[-4.0, -3.0, -3.0]> : tensor<3xf32> exactly
  check.expect %ls012, dense<-4.0> : tensor<f32> exactly
  return
}

func.func @rows_and_columns_of_seventeen() {
  %x = check.input dense<[[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5], [-1.75, -2.5, 1.25, -1.5, 0.5, -2.0, -3.0, 2.0, -0.5, 1.5, 1.5,
      3.75, -0.75, -2.25, 1.0, 3.5, 3.75], [3.0, 1.5, -1.0, -1.0, -3.75, -2.5, -1.5, -1.25, 0.75,
      0.0, 1.5, 3.25, 3.0, 2.25, 4.0, -1.5, 3.25]]> : tensor<3x17xf32>
  %r = weir.reduce sum %x {axes = array<i64: 1>} : tensor<3x17xf32> -> tensor<3xf32>
  %c = weir.reduce sum %x {axes = array<i64: 0>} : tensor<3x17xf32> -> tensor<17xf32>
  %m = weir.reduce max %x {axes = array<i64: 1>} : tensor<3x17xf32> -> tensor<3xf32>
  check.expect %r, dense<[-0.75, 4.5, 10.0]> : tensor<3xf32> exactly
  check.expect %c, dense<[4.0, -3.0, -3.0, -4.25, -4.0, -2.0, -5.0, -2.5, -1.0, 2.25, 5.5, 9.0,
      6.25, -2.5, 8.25, -1.75, 7.5]> : tensor<17xf32> exactly
  check.expect %m, dense<[4.0, 3.75, 4.0]> : tensor<3xf32> exactly
  return
}

func.func @forty_to_one() {
  %x = check.input dense<[2.5, -3.5, -2.75, -2.25, -2.75, 2.5, 3.0, 0.75, -3.75, -3.25, -1.5, -0.5,
      1.0, -0.25, -2.0, -2.75, 1.5, 2.0, -3.75, -3.25, -0.5, -1.0, 3.25, 0.25, -0.75, -0.5, 1.25,
      0.75, -2.75, 2.0, 2.0, 3.75, 2.25, -1.75, -1.5, 1.25, 1.25, 1.5, 3.0, -1.75]> : tensor<40xf32>
  %sum = weir.reduce sum %x {axes = array<i64: 0>} : tensor<40xf32> -> tensor<f32>
  %max = weir.reduce max %x {axes = array<i64: 0>} : tensor<40xf32> -> tensor<f32>
  %min = weir.reduce min %x {axes = array<i64: 0>} : tensor<40xf32> -> tensor<f32>
  check.expect %sum, dense<-7.0> : tensor<f32> exactly
  check.expect %max, dense<3.75> : tensor<f32> exactly
  check.expect %min, dense<-3.75> : tensor<f32> exactly
  return
}

// Sums wrap around.
func.func @whole_numbers() {
  %x = check.input dense<[[2147483647, 1, 5], [-2147483648, -1, -7]]> : tensor<2x3xi32>
  %s = weir.reduce sum %x {axes = array<i64: 1>} : tensor<2x3xi32> -> tensor<2xi32>
  %h = weir.reduce max %x {axes = array<i64: 1>} : tensor<2x3xi32> -> tensor<2xi32>
  %l = weir.reduce min %x {axes = array<i64: 0>} : tensor<2x3xi32> -> tensor<3xi32>
  check.expect %s, dense<[-2147483643, 2147483640]> : tensor<2xi32>
  check.expect %h, dense<[2147483647, -1]> : tensor<2xi32>
  check.expect %l, dense<[-2147483648, -1, -7]> : tensor<3xi32>
  return
}

// Opposite infinities have no sum; the maximum of nothing but -infinity is that.
func.func @special_values() {
  %x = check.input dense<[[1.0, 0x7FC00000, 0x7F800000], [0xFF800000, 0xFF800000, 0xFF800000],
      [0x7F800000, 1.0, 0xFF800000], [0x7F800000, 2.0, 0x7F800000]]> : tensor<4x3xf32>
  %s = weir.reduce sum %x {axes = array<i64: 1>} : tensor<4x3xf32> -> tensor<4xf32>
  %y = check.input dense<[[0xFF800000, 0xFF800000, 0xFF800000], [0x7F800000, 1.0, 0xFF800000],
      [0x7F800000, 2.0, 0x7F800000]]> : tensor<3x3xf32>
  %h = weir.reduce max %y {axes = array<i64: 1>} : tensor<3x3xf32> -> tensor<3xf32>
  %l = weir.reduce min %y {axes = array<i64: 1>} : tensor<3x3xf32> -> tensor<3xf32>
  check.expect %s, dense<[0x7FC00000, 0xFF800000, 0x7FC00000, 0x7F800000]> : tensor<4xf32> exactly
  check.expect %h, dense<[0xFF800000, 0x7F800000, 0x7F800000]> : tensor<3xf32> exactly
  check.expect %l, dense<[0xFF800000, 0xFF800000, 2.0]> : tensor<3xf32> exactly
  return
}

// NaN if any is, at either end of a row.
func.func @maxima_with_nan() {
  %x = check.input dense<[[1.0, 0x7FC00000, 0x7F800000], [0xFF800000, 0xFF800000, 0x7FC00000],
      [2.0, 1.0, 3.0]]> : tensor<3x3xf32>
  %y = check.input dense<[[1.0, -2.0, 4.0, 3.75, -3.5, -2.5, -2.5, -2.75, 0.75, -1.25, -0.25, -2.25,
      3.75, 1.5, 1.25, -3.25, 0x7FC00000], [3.25, -1.5, 3.0, 2.25, -4.0, -0.25, 0.25, -0.25, -3.25,
      1.75, -2.0, -1.25, -0.75, -1.75, -0.5, 2.75, -0.25], [0x7FC00000, 3.5, -2.25, -2.0, 0.5, -2.5,
      1.5, 1.5, 1.5, 3.75, -0.75, 3.5, 4.0, 3.25, -1.5, -3.5, 3.0]]> : tensor<3x17xf32>
  %h = weir.reduce max %x {axes = array<i64: 1>} : tensor<3x3xf32> -> tensor<3xf32>
  %l = weir.reduce min %x {axes = array<i64: 1>} : tensor<3x3xf32> -> tensor<3xf32>
  %r = weir.reduce max %y {axes = array<i64: 1>} : tensor<3x17xf32> -> tensor<3xf32>
  %c = weir.reduce min %y {axes = array<i64: 0>} : tensor<3x17xf32> -> tensor<17xf32>
  %a = weir.reduce max %y {axes = array<i64: 0, 1>} : tensor<3x17xf32> -> tensor<f32>
  check.expect %h, dense<[0x7FC00000, 0x7FC00000, 3.0]> : tensor<3xf32> exactly
  check.expect %l, dense<[0x7FC00000, 0x7FC00000, 1.0]> : tensor<3xf32> exactly
  check.expect %r, dense<[0x7FC00000, 3.25, 0x7FC00000]> : tensor<3xf32> exactly
  check.expect %c, dense<[0x7FC00000, -2.0, -2.25, -2.0, -4.0, -2.5, -2.5, -2.75, -3.25, -1.25,
      -2.0, -2.25, -0.75, -1.75, -1.5, -3.5, 0x7FC00000]> : tensor<17xf32> exactly
  check.expect %a, dense<0x7FC00000> : tensor<f32> exactly
  return
}

func.func @no_axes_and_one_element() {
  %x = check.input dense<[1.5, -2.0]> : tensor<2xf32>
  %y = check.input dense<[[3.0]]> : tensor<1x1xf32>
  %a = weir.reduce sum %x {axes = array<i64>} : tensor<2xf32> -> tensor<2xf32>
  %b = weir.reduce max %y {axes = array<i64: 0, 1>} : tensor<1x1xf32> -> tensor<f32>
  check.expect %a, dense<[1.5, -2.0]> : tensor<2xf32> exactly
  check.expect %b, dense<3.0> : tensor<f32> exactly
  return
}
