// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<-3.75> : tensor<f32>
  %b = check.input dense<-0.75> : tensor<f32>
  %r = weir.div %a, %b : tensor<f32>
  check.expect %r, dense<5.0> : tensor<f32> within 1.0e-7 each
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[-0.25, 0.0, 2.0, 3.75, -3.75, -3.0, 2.75, 3.75, -2.0, -1.5, 3.0, -0.75,
      -1.75, 2.75, -2.0, -0.75, 1.25]> : tensor<17xf32>
  %b = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5]> : tensor<17xf32>
  %r = weir.div %a, %b : tensor<17xf32>
  check.expect %r, dense<[-0.09090909, 0.0, -0.61538464, -2.142857, 5.0, -1.2, -5.5, -1.1538461,
      1.6, -2.0, 1.2, -0.375, -0.4375, -1.1, -0.61538464, 0.2,
      2.5]> : tensor<17xf32> within 1.0e-7 each
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[-3.0, -3.0, 2.5, 0.0, 0.75, 0.75, 1.75, -4.0],
      [0.0, -3.0, -0.75, 3.5, 0.5, -3.5, 0.25, -3.0], [2.0, 3.75, 4.0, 1.0, 3.0, -1.0, -3.0, 0.0],
      [-0.5, 1.25, 4.0, -1.75, 3.0, -3.0, -1.25, 2.5],
      [-2.0, 1.5, -0.25, 0.0, 3.75, 2.5, 2.75, 0.5]]> : tensor<5x8xf32>
  %b = check.input dense<[[1.0, -2.0, 4.0, 3.75, -3.5, -2.5, -2.5, -2.75],
      [0.75, -1.25, -0.25, -2.25, 3.75, 1.5, 1.25, -3.25],
      [-2.75, 3.25, -1.5, 3.0, 2.25, -4.0, -0.25, 0.25],
      [-0.25, -3.25, 1.75, -2.0, -1.25, -0.75, -1.75, -0.5],
      [2.75, -0.25, 2.0, 3.5, -2.25, -2.0, 0.5, -2.5]]> : tensor<5x8xf32>
  %r = weir.div %a, %b : tensor<5x8xf32>
  check.expect %r, dense<[[-3.0, 1.5, 0.625, 0.0, -0.21428572, -0.3, -0.7, 1.4545455],
      [0.0, 2.4, 3.0, -1.5555556, 0.13333334, -2.3333333, 0.2, 0.9230769],
      [-0.72727275, 1.1538461, -2.6666667, 0.33333334, 1.3333334, 0.25, 12.0, 0.0],
      [2.0, -0.3846154, 2.2857144, 0.875, -2.4, 4.0, 0.71428573, -5.0], [-0.72727275, -6.0, -0.125,
      0.0, -1.6666666, -1.25, 5.5, -0.2]]> : tensor<5x8xf32> within 1.0e-7 each
  return
}

// By zero, by infinity, and what is too large.
func.func @special_values() {
  %a = check.input dense<[1.0, -1.0, 0.0, -3.0, 0x7F800000, 0x7F800000, 1.0, 0x7FC00000, 3.0e38,
      -0.0]> : tensor<10xf32>
  %b = check.input dense<[0.0, 0.0, 0.0, 0x7F800000, 0x7F800000, 2.0, 0x7F800000, 1.0, 0.1,
      5.0]> : tensor<10xf32>
  %r = weir.div %a, %b : tensor<10xf32>
  check.expect %r, dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 0x7FC00000, 0x7F800000, 0.0,
      0x7FC00000, 0x7F800000, 0.0]> : tensor<10xf32> exactly
  return
}

// Towards zero; by 0 it is 0; the lowest by -1 wraps around to itself.
func.func @integers() {
  %a = check.input dense<[7, -7, 7, -7, 5, 0, -5, -2147483648, -2147483648, 2147483647, -2147483648,
      6, 1, -1, 2, 100, -100]> : tensor<17xi32>
  %b = check.input dense<[2, 2, -2, -2, 0, 0, 0, -1, 1, -1, -2147483648, -2147483648, 7, 7, 3, -7,
      -7]> : tensor<17xi32>
  %r = weir.div %a, %b : tensor<17xi32>
  check.expect %r, dense<[3, -3, -3, 3, 0, 0, 0, -2147483648, -2147483648, -2147483647, 1, 0, 0, 0,
      0, -14, 14]> : tensor<17xi32>
  return
}

func.func @integers_by_constants() {
  %x = check.input dense<[7, -7, 0, -2147483648]> : tensor<4xi32>
  %c0 = weir.constant 0 : i32 -> tensor<4xi32>
  %c1 = weir.constant 1 : i32 -> tensor<4xi32>
  %c2 = weir.constant -1 : i32 -> tensor<4xi32>
  %c3 = weir.constant 2 : i32 -> tensor<4xi32>
  %r0 = weir.div %x, %c0 : tensor<4xi32>
  %r1 = weir.div %x, %c1 : tensor<4xi32>
  %r2 = weir.div %x, %c2 : tensor<4xi32>
  %r3 = weir.div %x, %c3 : tensor<4xi32>
  check.expect %r0, dense<0> : tensor<4xi32>
  check.expect %r1, dense<[7, -7, 0, -2147483648]> : tensor<4xi32>
  check.expect %r2, dense<[-7, 7, 0, -2147483648]> : tensor<4xi32>
  check.expect %r3, dense<[3, -3, 0, -1073741824]> : tensor<4xi32>
  return
}

func.func @floats_by_constants() {
  %x = check.input dense<[7.0, -7.0, 0.0, 0x7F800000]> : tensor<4xf32>
  %c0 = weir.constant 0.0 : f32 -> tensor<4xf32>
  %c1 = weir.constant 1.0 : f32 -> tensor<4xf32>
  %c2 = weir.constant 4.0 : f32 -> tensor<4xf32>
  %r0 = weir.div %x, %c0 : tensor<4xf32>
  %r1 = weir.div %x, %c1 : tensor<4xf32>
  %r2 = weir.div %x, %c2 : tensor<4xf32>
  check.expect %r0, dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800000]> : tensor<4xf32> exactly
  check.expect %r1, dense<[7.0, -7.0, 0.0, 0x7F800000]> : tensor<4xf32> exactly
  check.expect %r2, dense<[1.75, -1.75, 0.0, 0x7F800000]> : tensor<4xf32> exactly
  return
}

// Processors estimate the quotient of a root, wrongly at 0 and at infinity.
func.func @by_a_root() {
  %x = check.input dense<[4.0, 0.0, 0x7F800000, 1.0e-30, -1.0, 0x7FC00000]> : tensor<6xf32>
  %s = weir.sqrt %x : tensor<6xf32>
  %c = weir.constant 3.0 : f32 -> tensor<6xf32>
  %r = weir.div %c, %s : tensor<6xf32>
  %m = weir.mul %s, %c : tensor<6xf32>
  %t = weir.div %c, %m : tensor<6xf32>
  check.expect %r, dense<[1.5, 0x7F800000, 0.0, 3.0e15, 0x7FC00000,
      0x7FC00000]> : tensor<6xf32> within 1.0e-6 each
  check.expect %t, dense<[0.5, 0x7F800000, 0.0, 1.0e15, 0x7FC00000,
      0x7FC00000]> : tensor<6xf32> within 1.0e-6 each
  return
}
