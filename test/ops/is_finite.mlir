// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<0x7FC00000> : tensor<f32>
  %r = weir.is_finite %x : tensor<f32> -> tensor<i1>
  check.expect %r, dense<false> : tensor<i1>
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[0.0, -0.0, 1.0, -3.4e38, 3.4e38, 1.0e-45, 0x7F800000, 0xFF800000,
      0x7FC00000, -1.0, 2.0, 0x7F800000, 5.0, 0x7FC00000, 7.0, 8.0, 0xFF800000]> : tensor<17xf32>
  %r = weir.is_finite %x : tensor<17xf32> -> tensor<17xi1>
  check.expect %r, dense<[true, true, true, true, true, true, false, false, false, true, true,
      false, true, false, true, true, false]> : tensor<17xi1>
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[2.5, -3.5, -2.75, -2.25, -2.75, 2.5, 3.0, 0.75],
      [-3.75, -3.25, -1.5, 0x7FC00000, 1.0, -0.25, -2.0, -2.75],
      [0xFF800000, 2.0, -3.75, -3.25, -0.5, -1.0, 3.25, 0.25],
      [-0.75, -0.5, 1.25, 0.75, -2.75, 2.0, 2.0, 3.75],
      [2.25, -1.75, -1.5, 1.25, 1.25, 1.5, 3.0, 0x7F800000]]> : tensor<5x8xf32>
  %r = weir.is_finite %x : tensor<5x8xf32> -> tensor<5x8xi1>
  check.expect %r, dense<[[true, true, true, true, true, true, true, true],
      [true, true, true, false, true, true, true, true],
      [false, true, true, true, true, true, true, true],
      [true, true, true, true, true, true, true, true],
      [true, true, true, true, true, true, true, false]]> : tensor<5x8xi1>
  return
}

// What is computed in the same kernel is not assumed to be finite.
func.func @of_what_overflows() {
  %x = check.input dense<[3.0e38, 1.0, 0.0]> : tensor<3xf32>
  %q = weir.div %x, %x : tensor<3xf32>
  %a = weir.is_finite %q : tensor<3xf32> -> tensor<3xi1>
  check.expect %a, dense<[true, true, false]> : tensor<3xi1>
  return
}
