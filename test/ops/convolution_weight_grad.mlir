// RUN: weir-check %s

func.func @plain() {
  %x = check.input dense<[[[[1.25, 2.0, -1.0], [-1.25, 1.25, 1.5],
      [0.0, -1.5, 1.5]]]]> : tensor<1x1x3x3xf32>
  %g = check.input dense<[[[[-1.75, -1.0], [1.0, -0.25]]]]> : tensor<1x1x2x2xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32> -> tensor<1x1x2x2xf32>
  check.expect %d, dense<[[[[-5.75, -1.625], [1.3125, -5.5625]]]]> : tensor<1x1x2x2xf32> exactly
  return
}

// Padding counts as 0.
func.func @padded() {
  %x = check.input dense<[[[[-1.5, -1.5, 1.25, 0.0], [0.5, 0.5, 1.0, -2.0],
      [0.0, -1.5, -0.5, 1.75]], [[0.25, -1.75, 0.25, -1.5], [1.0, 2.0, 2.0, 0.5],
      [1.5, -0.5, -1.5, 0.0]]]]> : tensor<1x2x3x4xf32>
  %g = check.input dense<[[[[0.25, 1.75, 0.0, -1.75], [0.25, 0.75, -1.75, 0.0],
      [-0.5, 0.75, 0.75, -2.0]], [[-1.25, -2.0, 1.0, -1.25], [1.75, 2.0, 0.5, -0.75],
      [-0.75, 0.5, 1.25, 2.0]]]]> : tensor<1x2x3x4xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<2x2x3x3xf32>
  check.expect %d, dense<[[[[0.25, 1.1875, -0.4375], [-5.4375, -9.25, 7.875],
      [1.75, 4.25, -1.9375]], [[1.5, -0.1875, 3.25], [1.0, -4.375, 0.25], [0.25, 5.5, 2.75]]],
      [[[-1.8125, -7.875, -2.5], [-2.4375, 12.125, 4.3125], [-2.125, -2.6875, -7.375]],
      [[6.4375, 1.9375, -3.1875], [-3.9375, 8.4375, 7.5625],
      [1.375, -3.0, -9.875]]]]> : tensor<2x2x3x3xf32> exactly
  return
}

// Rows and columns that no window reaches.
func.func @strides() {
  %x = check.input dense<[[[[0.5, -1.0, 2.0, 2.0, -1.75, -1.25],
      [-1.25, -1.25, 0.25, -0.75, 0.0, -1.25], [2.0, 0.75, 0.75, -1.75, -1.5, 1.75],
      [-0.75, 1.5, 1.25, -2.0, 0.0, 0.25], [-0.25, -1.75, 1.0, -1.0, -0.75, -0.25]]],
      [[[-0.75, -0.25, 1.5, -0.25, 1.0, 1.75], [-1.25, -1.0, 0.25, -1.25, 0.75, 0.75],
      [0.75, 2.0, -0.25, 1.75, 2.0, 1.5], [-0.75, -1.75, 1.5, 1.75, -0.75, 0.75],
      [-1.5, 1.5, 1.5, -0.5, 1.25, -1.25]]]]> : tensor<2x1x5x6xf32>
  %g = check.input dense<[[[[1.5, -1.5], [1.5, 0.25]]], [[[-0.25, -0.5],
      [-1.0, -0.75]]]]> : tensor<2x1x2x2xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 2, 3>, padding = array<i64: 0, 0>} : tensor<2x1x5x6xf32>, tensor<2x1x2x2xf32> -> tensor<1x1x2x3xf32>
  check.expect %d, dense<[[[[-1.4375, -2.0625, 4.3125],
      [-2.0, 2.5625, 1.6875]]]]> : tensor<1x1x2x3xf32> exactly
  return
}

// Kernel, strides and padding differ between rows and columns.
func.func @uneven() {
  %x = check.input dense<[[[[1.75, 1.5, 1.25, 1.5, -1.75, 1.25, 2.0],
      [-1.0, -1.5, -1.75, 1.25, 2.0, 0.5, 0.5], [1.25, -2.0, 1.5, 1.75, -1.5, 2.0, 1.5],
      [-1.0, 0.0, 1.25, 1.75, -1.75, 0.75, -0.25]]]]> : tensor<1x1x4x7xf32>
  %g = check.input dense<[[[[1.5, -0.25, -0.5, 0.25, 1.5], [1.75, -0.75, -1.0, 0.25, 0.5]],
      [[-1.0, -0.5, 1.75, 1.0, 1.5], [0.25, -0.5, -1.25, 0.75, 0.0]]]]> : tensor<1x2x2x5xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 3, 2>, padding = array<i64: 1, 2>} : tensor<1x1x4x7xf32>, tensor<1x2x2x5xf32> -> tensor<2x1x3x2xf32>
  check.expect %d, dense<[[[[-2.0625, 0.25], [0.4375, -2.375], [2.375, -0.125]]],
      [[[-3.625, 0.3125], [0.1875, 1.5], [0.1875, 3.4375]]]]> : tensor<2x1x3x2xf32> exactly
  return
}

func.func @one_by_one() {
  %x = check.input dense<[[[[-1.5]], [[1.5]], [[0.75]]]]> : tensor<1x3x1x1xf32>
  %g = check.input dense<[[[[-1.75]], [[-2.0]]]]> : tensor<1x2x1x1xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x3x1x1xf32>, tensor<1x2x1x1xf32> -> tensor<2x3x1x1xf32>
  check.expect %d, dense<[[[[2.625]], [[-2.625]], [[-1.3125]]], [[[3.0]], [[-3.0]],
      [[-1.5]]]]> : tensor<2x3x1x1xf32> exactly
  return
}

// <conv(x, w), g> is <w, d>, at sizes that straddle tiles and vectors.
func.func @is_the_transpose() {
  %n = check.input dense<3> : tensor<i32>
  %x = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x17x9x7xf32>
  %w = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<19x17x3x3xf32>
  %g = weir.random normal seed %n step %n round %n {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x19x5x4xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : tensor<2x17x9x7xf32>, tensor<19x17x3x3xf32> -> tensor<2x19x5x4xf32>
  %d = weir.convolution_weight_grad %x, %g {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : tensor<2x17x9x7xf32>, tensor<2x19x5x4xf32> -> tensor<19x17x3x3xf32>
  %ap = weir.mul %y, %g : tensor<2x19x5x4xf32>
  %a = weir.reduce sum %ap {axes = array<i64: 0, 1, 2, 3>} : tensor<2x19x5x4xf32> -> tensor<f32>
  %bp = weir.mul %d, %w : tensor<19x17x3x3xf32>
  %b = weir.reduce sum %bp {axes = array<i64: 0, 1, 2, 3>} : tensor<19x17x3x3xf32> -> tensor<f32>
  check.expect_close %b, %a within 1.0e-4 : tensor<f32>
  return
}

func.func @low() {
  %x = check.input dense<[[[[1.25, 2.0, -1.0], [-1.25, 1.25, 1.5],
      [0.0, -1.5, 1.5]]]]> : tensor<1x1x3x3xf32>
  %g = check.input dense<[[[[-1.75, -1.0], [1.0, -0.25]]]]> : tensor<1x1x2x2xf32>
  %a = weir.cast %x : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xbf16>
  %b = weir.cast %g : tensor<1x1x2x2xf32> -> tensor<1x1x2x2xbf16>
  %d = weir.convolution_weight_grad %a, %b {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x1x3x3xbf16>, tensor<1x1x2x2xbf16> -> tensor<1x1x2x2xf32>
  check.expect %d, dense<[[[[-5.75, -1.625], [1.3125, -5.5625]]]]> : tensor<1x1x2x2xf32> exactly
  return
}
