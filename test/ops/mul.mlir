// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<-3.75> : tensor<f32>
  %b = check.input dense<-0.75> : tensor<f32>
  %r = weir.mul %a, %b : tensor<f32>
  check.expect %r, dense<2.8125> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[-0.25, 0.0, 2.0, 3.75, -3.75, -3.0, 2.75, 3.75, -2.0, -1.5, 3.0, -0.75,
      -1.75, 2.75, -2.0, -0.75, 1.25]> : tensor<17xf32>
  %b = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5]> : tensor<17xf32>
  %r = weir.mul %a, %b : tensor<17xf32>
  check.expect %r, dense<[-0.6875, 0.0, -6.5, -6.5625, 2.8125, -7.5, -1.375, -12.1875, 2.5, -1.125,
      7.5, -1.5, -7.0, -6.875, -6.5, 2.8125, 0.625]> : tensor<17xf32> exactly
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
  %r = weir.mul %a, %b : tensor<5x8xf32>
  check.expect %r, dense<[[-3.0, 6.0, 10.0, 0.0, -2.625, -1.875, -4.375, 11.0],
      [0.0, 3.75, 0.1875, -7.875, 1.875, -5.25, 0.3125, 9.75],
      [-5.5, 12.1875, -6.0, 3.0, 6.75, 4.0, 0.75, 0.0],
      [0.125, -4.0625, 7.0, 3.5, -3.75, 2.25, 2.1875, -1.25],
      [-5.5, -0.375, -0.5, 0.0, -8.4375, -5.0, 1.375, -1.25]]> : tensor<5x8xf32> exactly
  return
}

// What is too large is infinite, what is too small 0.
func.func @special_values() {
  %a = check.input dense<[0x7F800000, 0x7F800000, 0x7FC00000, 1.0, -0.0, 0.0, 3.0e38,
      1.0e-30]> : tensor<8xf32>
  %b = check.input dense<[0.0, -1.0, 1.0, 0x7FC00000, 2.0, -3.0, 2.0, 1.0e-30]> : tensor<8xf32>
  %r = weir.mul %a, %b : tensor<8xf32>
  check.expect %r, dense<[0x7FC00000, 0xFF800000, 0x7FC00000, 0x7FC00000, 0.0, 0.0, 0x7F800000,
      0.0]> : tensor<8xf32> exactly
  return
}

// Integers wrap around.
func.func @integers() {
  %a = check.input dense<[2147483647, -2147483648, -2147483648, 65536, -7, -54, 23, 510, 900, -931,
      -712, 645, 897, -502, -377, 738, -154]> : tensor<17xi32>
  %b = check.input dense<[1, -1, -2147483648, 65536, 3, 675, -477, -782, -404, -173, 628, -98, -817,
      -331, 200, 626, 457]> : tensor<17xi32>
  %r = weir.mul %a, %b : tensor<17xi32>
  check.expect %r, dense<[2147483647, -2147483648, 0, 0, -21, -36450, -10971, -398820, -363600,
      161063, -447136, -63210, -732849, 166162, -75400, 461988, -70378]> : tensor<17xi32>
  return
}

// 0 times a number that is not finite is NaN.
func.func @with_constants() {
  %x = check.input dense<[1.5, -2.25, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  %i = check.input dense<[5, -3]> : tensor<2xi32>
  %zero = weir.constant 0.0 : f32 -> tensor<4xf32>
  %one = weir.constant 1.0 : f32 -> tensor<4xf32>
  %none = weir.constant 0 : i32 -> tensor<2xi32>
  %a = weir.mul %x, %zero : tensor<4xf32>
  %b = weir.mul %one, %x : tensor<4xf32>
  %c = weir.mul %i, %none : tensor<2xi32>
  check.expect %a, dense<[0.0, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<4xf32> exactly
  check.expect %b, dense<[1.5, -2.25, 0x7FC00000, 0x7F800000]> : tensor<4xf32> exactly
  check.expect %c, dense<0> : tensor<2xi32>
  return
}
