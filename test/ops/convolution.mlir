// RUN: weir-check %s

func.func @plain() {
  %x = check.input dense<[[[[1.25, 2.0, -1.0], [-1.25, 1.25, 1.5],
      [0.0, -1.5, 1.5]]]]> : tensor<1x1x3x3xf32>
  %w = check.input dense<[[[[1.75, -1.0], [-1.0, -0.25]]]]> : tensor<1x1x2x2xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32> -> tensor<1x1x2x2xf32>
  check.expect %y, dense<[[[[1.125, 2.875], [-3.0625, 1.8125]]]]> : tensor<1x1x2x2xf32> exactly
  return
}

// Padding counts as 0.
func.func @padded() {
  %x = check.input dense<[[[[-1.5, -1.5, 1.25, 0.0], [0.5, 0.5, 1.0, -2.0],
      [0.0, -1.5, -0.5, 1.75]], [[0.25, -1.75, 0.25, -1.5], [1.0, 2.0, 2.0, 0.5],
      [1.5, -0.5, -1.5, 0.0]]]]> : tensor<1x2x3x4xf32>
  %w = check.input dense<[[[[-0.75, 1.25, -0.5], [0.5, -0.25, 1.0], [-0.75, -1.75, -0.75]],
      [[0.5, 0.5, 2.0], [-1.0, -0.25, 2.0], [-1.75, 0.75, 2.0]]], [[[1.75, 0.75, 1.75],
      [-1.25, 1.0, 0.75], [0.0, 2.0, 1.5]], [[-1.25, 2.0, 1.5], [-0.5, 0.75, 1.25],
      [-1.25, -1.0, -1.25]]]]> : tensor<2x2x3x3xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : tensor<1x2x3x4xf32>, tensor<2x2x3x3xf32> -> tensor<1x2x3x4xf32>
  check.expect %y, dense<[[[[-1.1875, 3.3125, -4.0, 0.375], [0.875, -1.0, -4.125, -2.75],
      [2.0, 0.75, 6.875, -1.1875]], [[-6.375, -3.0625, -3.8125, -9.8125],
      [-4.875, -4.125, 2.5, 0.375], [5.625, 3.875, 2.1875, 1.875]]]]> : tensor<1x2x3x4xf32> exactly
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
  %w = check.input dense<[[[[1.25, -0.5, 0.75], [-1.25, 2.0, -1.75]]]]> : tensor<1x1x2x3xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 2, 3>, padding = array<i64: 0, 0>} : tensor<2x1x5x6xf32>, tensor<1x1x2x3xf32> -> tensor<2x1x2x2xf32>
  check.expect %y, dense<[[[[1.25, 5.5625], [4.4375, 1.9375]]], [[[-0.5625, 2.25],
      [-5.4375, -2.6875]]]]> : tensor<2x1x2x2xf32> exactly
  return
}

// Kernel, strides and padding differ between rows and columns.
func.func @uneven() {
  %x = check.input dense<[[[[1.75, 1.5, 1.25, 1.5, -1.75, 1.25, 2.0],
      [-1.0, -1.5, -1.75, 1.25, 2.0, 0.5, 0.5], [1.25, -2.0, 1.5, 1.75, -1.5, 2.0, 1.5],
      [-1.0, 0.0, 1.25, 1.75, -1.75, 0.75, -0.25]]]]> : tensor<1x1x4x7xf32>
  %w = check.input dense<[[[[-2.0, 0.75], [-0.25, 0.5], [-1.0, -1.5]]], [[[0.5, -1.75],
      [-1.5, 0.75], [0.75, 1.5]]]]> : tensor<2x1x3x2xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 3, 2>, padding = array<i64: 1, 2>} : tensor<1x1x4x7xf32>, tensor<2x1x3x2xf32> -> tensor<1x2x2x5xf32>
  check.expect %y, dense<[[[[0.0, 3.5625, 0.3125, -1.6875, -1.0],
      [0.0, -3.75, -1.125, 5.3125, -2.9375]], [[0.0, -4.5, -0.1875, 5.8125, -2.625],
      [0.0, 5.625, -2.875, -1.0625, 1.125]]]]> : tensor<1x2x2x5xf32> exactly
  return
}

func.func @one_by_one() {
  %x = check.input dense<[[[[-1.5]], [[1.5]], [[0.75]]]]> : tensor<1x3x1x1xf32>
  %w = check.input dense<[[[[-0.5]], [[-0.75]], [[1.0]]], [[[-0.5]], [[1.25]],
      [[0.25]]]]> : tensor<2x3x1x1xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32> -> tensor<1x2x1x1xf32>
  check.expect %y, dense<[[[[0.375]], [[2.8125]]]]> : tensor<1x2x1x1xf32> exactly
  return
}

// A product for each element of the kernel, at sizes that straddle tiles and vectors.
func.func @as_products() {
  %n = check.input dense<3> : tensor<i32>
  %x = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x17x5x7xf32>
  %w = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<19x17x3x3xf32>
  %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<3x17x5x7xf32>, tensor<19x17x3x3xf32> -> tensor<3x19x3x5xf32>
  %x00 = weir.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w00 = weir.slice %w {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p00 = weir.merge_dims %x00 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m00 = weir.merge_dims %w00 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b00 = weir.broadcast %m00 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q00 = weir.matmul %b00, %p00 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x01 = weir.slice %x {offsets = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w01 = weir.slice %w {offsets = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p01 = weir.merge_dims %x01 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m01 = weir.merge_dims %w01 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b01 = weir.broadcast %m01 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q01 = weir.matmul %b01, %p01 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x02 = weir.slice %x {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w02 = weir.slice %w {offsets = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p02 = weir.merge_dims %x02 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m02 = weir.merge_dims %w02 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b02 = weir.broadcast %m02 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q02 = weir.matmul %b02, %p02 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x10 = weir.slice %x {offsets = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w10 = weir.slice %w {offsets = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p10 = weir.merge_dims %x10 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m10 = weir.merge_dims %w10 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b10 = weir.broadcast %m10 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q10 = weir.matmul %b10, %p10 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x11 = weir.slice %x {offsets = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w11 = weir.slice %w {offsets = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p11 = weir.merge_dims %x11 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m11 = weir.merge_dims %w11 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b11 = weir.broadcast %m11 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q11 = weir.matmul %b11, %p11 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x12 = weir.slice %x {offsets = array<i64: 0, 0, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w12 = weir.slice %w {offsets = array<i64: 0, 0, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p12 = weir.merge_dims %x12 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m12 = weir.merge_dims %w12 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b12 = weir.broadcast %m12 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q12 = weir.matmul %b12, %p12 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x20 = weir.slice %x {offsets = array<i64: 0, 0, 2, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w20 = weir.slice %w {offsets = array<i64: 0, 0, 2, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p20 = weir.merge_dims %x20 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m20 = weir.merge_dims %w20 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b20 = weir.broadcast %m20 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q20 = weir.matmul %b20, %p20 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x21 = weir.slice %x {offsets = array<i64: 0, 0, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w21 = weir.slice %w {offsets = array<i64: 0, 0, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p21 = weir.merge_dims %x21 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m21 = weir.merge_dims %w21 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b21 = weir.broadcast %m21 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q21 = weir.matmul %b21, %p21 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %x22 = weir.slice %x {offsets = array<i64: 0, 0, 2, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<3x17x5x7xf32> -> tensor<3x17x3x5xf32>
  %w22 = weir.slice %w {offsets = array<i64: 0, 0, 2, 2>, strides = array<i64: 1, 1, 1, 1>} : tensor<19x17x3x3xf32> -> tensor<19x17x1x1xf32>
  %p22 = weir.merge_dims %x22 {first = 2 : i64, count = 2 : i64} : tensor<3x17x3x5xf32> -> tensor<3x17x15xf32>
  %m22 = weir.merge_dims %w22 {first = 1 : i64, count = 3 : i64} : tensor<19x17x1x1xf32> -> tensor<19x17xf32>
  %b22 = weir.broadcast %m22 {dimensions = array<i64: 1, 2>} : tensor<19x17xf32> -> tensor<3x19x17xf32>
  %q22 = weir.matmul %b22, %p22 : tensor<3x19x17xf32>, tensor<3x17x15xf32> -> tensor<3x19x15xf32>
  %s1 = weir.add %q00, %q01 : tensor<3x19x15xf32>
  %s2 = weir.add %s1, %q02 : tensor<3x19x15xf32>
  %s3 = weir.add %s2, %q10 : tensor<3x19x15xf32>
  %s4 = weir.add %s3, %q11 : tensor<3x19x15xf32>
  %s5 = weir.add %s4, %q12 : tensor<3x19x15xf32>
  %s6 = weir.add %s5, %q20 : tensor<3x19x15xf32>
  %s7 = weir.add %s6, %q21 : tensor<3x19x15xf32>
  %s8 = weir.add %s7, %q22 : tensor<3x19x15xf32>
  %r = weir.split_dim %s8 {dimension = 2 : i64, sizes = array<i64: 3, 5>} : tensor<3x19x15xf32> -> tensor<3x19x3x5xf32>
  check.expect_close %y, %r : tensor<3x19x3x5xf32>
  return
}

// Multiplied as they are, and rounded once behind, ties to even.
func.func @low() {
  %x = check.input dense<[[[[1.25, 2.0, -1.0], [-1.25, 1.25, 1.5],
      [0.0, -1.5, 1.5]]]]> : tensor<1x1x3x3xf32>
  %w = check.input dense<[[[[1.75, -1.0], [-1.0, -0.2578125]]]]> : tensor<1x1x2x2xf32>
  %a = weir.cast %x : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xbf16>
  %b = weir.cast %w : tensor<1x1x2x2xf32> -> tensor<1x1x2x2xbf16>
  %y = weir.convolution %a, %b {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x1x3x3xbf16>, tensor<1x1x2x2xbf16> -> tensor<1x1x2x2xf32>
  check.expect %y, dense<[[[[1.115234375, 2.86328125], [-3.05078125, 1.80078125]]]]> : tensor<1x1x2x2xf32> exactly
  %n = weir.cast %y : tensor<1x1x2x2xf32> -> tensor<1x1x2x2xbf16>
  %r = weir.cast %n : tensor<1x1x2x2xbf16> -> tensor<1x1x2x2xf32>
  check.expect %r, dense<[[[[1.1171875, 2.859375], [-3.046875, 1.796875]]]]> : tensor<1x1x2x2xf32> exactly
  return
}
