// RUN: weir-check %s

func.func @either_side_transposed() {
  %a = check.input dense<[[-0.25, 0.0, 2.0, 3.75], [-3.75, -3.0, 2.75, 3.75],
      [-2.0, -1.5, 3.0, -0.75]]> : tensor<3x4xf32>
  %b = check.input dense<[[2.75, -2.0], [-3.25, -1.75], [-0.75, 2.5],
      [-0.5, -3.25]]> : tensor<4x2xf32>
  %at = check.input dense<[[-0.25, -3.75, -2.0], [0.0, -3.0, -1.5], [2.0, 2.75, 3.0],
      [3.75, 3.75, -0.75]]> : tensor<4x3xf32>
  %bt = check.input dense<[[2.75, -3.25, -0.75, -0.5], [-2.0, -1.75, 2.5, -3.25]]> : tensor<2x4xf32>
  %nn = weir.matmul %a, %b : tensor<3x4xf32>, tensor<4x2xf32> -> tensor<3x2xf32>
  %tn = weir.matmul %at, %b {transpose_lhs} : tensor<4x3xf32>, tensor<4x2xf32> -> tensor<3x2xf32>
  %nt = weir.matmul %a, %bt {transpose_rhs} : tensor<3x4xf32>, tensor<2x4xf32> -> tensor<3x2xf32>
  %tt = weir.matmul %at, %bt {transpose_lhs, transpose_rhs} : tensor<4x3xf32>, tensor<2x4xf32> -> tensor<3x2xf32>
  check.expect %nn, dense<[[-4.0625, -6.6875], [-4.5, 7.4375],
      [-2.5, 16.5625]]> : tensor<3x2xf32> exactly
  check.expect %tn, dense<[[-4.0625, -6.6875], [-4.5, 7.4375],
      [-2.5, 16.5625]]> : tensor<3x2xf32> exactly
  check.expect %nt, dense<[[-4.0625, -6.6875], [-4.5, 7.4375],
      [-2.5, 16.5625]]> : tensor<3x2xf32> exactly
  check.expect %tt, dense<[[-4.0625, -6.6875], [-4.5, 7.4375],
      [-2.5, 16.5625]]> : tensor<3x2xf32> exactly
  return
}

func.func @batches() {
  %a = check.input dense<[[[2.5, -3.5, -2.75], [-2.25, -2.75, 2.5]], [[3.0, 0.75, -3.75],
      [-3.25, -1.5, -0.5]]]> : tensor<2x2x3xf32>
  %b = check.input dense<[[[1.75, 3.75], [3.25, 0.0], [3.75, 4.0]], [[4.0, -3.5], [-0.5, 1.0],
      [-1.75, -1.0]]]> : tensor<2x3x2xf32>
  %r = weir.matmul %a, %b : tensor<2x2x3xf32>, tensor<2x3x2xf32> -> tensor<2x2x2xf32>
  check.expect %r, dense<[[[-17.3125, -1.625], [-3.5, 1.5625]], [[18.1875, -6.0],
      [-11.375, 10.375]]]> : tensor<2x2x2xf32> exactly
  return
}

func.func @one_element_and_one_summand() {
  %a = check.input dense<[[3.0]]> : tensor<1x1xf32>
  %b = check.input dense<[[-2.5]]> : tensor<1x1xf32>
  %c = check.input dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %d = check.input dense<[[3.0, 4.0, 5.0]]> : tensor<1x3xf32>
  %r = weir.matmul %a, %b : tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>
  %s = weir.matmul %c, %d : tensor<2x1xf32>, tensor<1x3xf32> -> tensor<2x3xf32>
  check.expect %r, dense<[[-7.5]]> : tensor<1x1xf32> exactly
  check.expect %s, dense<[[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]> : tensor<2x3xf32> exactly
  return
}

func.func @seventeen_summands() {
  %a = check.input dense<[[0.75, 1.25, -2.0, 1.25, -0.25, 0.0, 0.5, -1.0, 2.0, -2.0, -1.0, -0.5,
      0.25, -0.5, -1.5, -2.0, -2.0]]> : tensor<1x17xf32>
  %b = check.input dense<[[-0.25, 0.25, 0.0, -0.75, 2.0], [-0.5, 0.75, -0.5, -0.25, 2.0],
      [-1.25, 0.5, -0.25, 0.75, 1.0], [-0.75, 0.75, 0.75, -0.25, -1.5], [0.5, -2.0, 1.75, 1.5, 1.5],
      [-2.0, 2.0, 2.0, 0.25, 1.5], [1.25, 1.25, -1.5, -2.0, -1.0], [-1.25, 0.25, 1.5, 1.0, -0.25],
      [0.25, 0.5, 1.25, -1.5, 1.25], [-1.25, 0.25, 0.0, 1.5, 1.0], [-1.5, 0.25, -2.0, -1.75, 0.0],
      [1.5, -1.25, -1.5, 2.0, -0.25], [-1.5, 0.25, -0.75, -0.75, -0.25],
      [-0.25, 1.25, 1.75, -1.0, -0.25], [0.75, 0.25, 0.25, 2.0, -1.25],
      [-1.0, 1.0, 1.75, -0.25, -0.5], [1.25, -0.75, 0.0, 1.5, -0.5]]> : tensor<17x5xf32>
  %r = weir.matmul %a, %b : tensor<1x17xf32>, tensor<17x5xf32> -> tensor<1x5xf32>
  check.expect %r, dense<[[4.375, 1.375, -1.5625, -15.5, 4.0625]]> : tensor<1x5xf32> exactly
  return
}

func.func @infinite_and_not_a_number() {
  %a = check.input dense<[[1.0, 0x7F800000], [0.0, 1.0], [0x7FC00000, 0.0]]> : tensor<3x2xf32>
  %b = check.input dense<[[1.0, 2.0], [0.0, 3.0]]> : tensor<2x2xf32>
  %r = weir.matmul %a, %b : tensor<3x2xf32>, tensor<2x2xf32> -> tensor<3x2xf32>
  check.expect %r, dense<[[0x7FC00000, 0x7F800000], [0.0, 3.0],
      [0x7FC00000, 0x7FC00000]]> : tensor<3x2xf32> exactly
  return
}

// Sizes that straddle tiles and vectors.
func.func @as_sums_of_products() {
  %n = check.input dense<3> : tensor<i32>
  %a = weir.random normal seed %n step %n round %n {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x17x40xf32>
  %b = weir.random normal seed %n step %n round %n {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x33x40xf32>
  %r = weir.matmul %a, %b {transpose_rhs} : tensor<2x17x40xf32>, tensor<2x33x40xf32> -> tensor<2x17x33xf32>
  %as = weir.broadcast %a {dimensions = array<i64: 0, 1, 3>} : tensor<2x17x40xf32> -> tensor<2x17x33x40xf32>
  %bs = weir.broadcast %b {dimensions = array<i64: 0, 2, 3>} : tensor<2x33x40xf32> -> tensor<2x17x33x40xf32>
  %p = weir.mul %as, %bs : tensor<2x17x33x40xf32>
  %s = weir.reduce sum %p {axes = array<i64: 3>} : tensor<2x17x33x40xf32> -> tensor<2x17x33xf32>
  check.expect_close %r, %s : tensor<2x17x33xf32>
  return
}

// What is narrowed behind a product, its bias and relu is narrowed once.
func.func @low() {
  %x = check.input dense<[[1.5, -2.0], [0.25, 1.0]]> : tensor<2x2xf32>
  %w = check.input dense<[[2.0, 0.0078125], [1.0, -1.0]]> : tensor<2x2xf32>
  %bias = check.input dense<[0.015625, -0.0078125]> : tensor<2xf32>
  %a = weir.cast %x : tensor<2x2xf32> -> tensor<2x2xbf16>
  %b = weir.cast %w : tensor<2x2xf32> -> tensor<2x2xbf16>
  %p = weir.matmul %a, %b : tensor<2x2xbf16>, tensor<2x2xbf16> -> tensor<2x2xf32>
  %wide = weir.broadcast %bias {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<2x2xf32>
  %sum = weir.add %p, %wide : tensor<2x2xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<2x2xf32>
  %relu = weir.max %zero, %sum : tensor<2x2xf32>
  %n = weir.cast %relu : tensor<2x2xf32> -> tensor<2x2xbf16>
  %r = weir.cast %n : tensor<2x2xbf16> -> tensor<2x2xf32>
  check.expect %r, dense<[[1.015625, 2.0], [1.515625, 0.0]]> : tensor<2x2xf32> exactly
  return
}
