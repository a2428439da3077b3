// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<4.0> : tensor<f32>
  %b = check.input dense<-0.75> : tensor<f32>
  %r = weir.pow %a, %b : tensor<f32>
  check.expect %r, dense<0.35355338> : tensor<f32> within 5.0e-6 each
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[0.5, 0.25, 2.25, 4.0, 4.0, 3.25, 3.0, 4.0, 2.25, 1.75, 3.25, 1.0, 2.0,
      3.0, 2.25, 1.0, 1.5]> : tensor<17xf32>
  %b = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5]> : tensor<17xf32>
  %r = weir.pow %a, %b : tensor<17xf32>
  check.expect %r, dense<[0.14865088, 16.0, 0.071681455, 0.088388346, 0.35355338, 19.041819,
      0.57735026, 0.011048543, 0.36288738, 1.521523, 19.041819, 1.0, 16.0, 0.06415003, 13.950609,
      1.0, 1.2247449]> : tensor<17xf32> within 5.0e-6 each
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[1.0, 1.0, 3.5, 2.25, 2.75, 2.75, 3.25, 0.5],
      [2.25, 1.0, 2.0, 4.0, 2.5, 0.75, 2.5, 1.0], [3.5, 4.25, 4.25, 2.75, 3.75, 1.75, 1.0, 2.5],
      [2.25, 3.0, 4.25, 1.5, 3.75, 1.0, 1.75, 3.5],
      [1.25, 3.0, 2.25, 2.5, 4.25, 3.75, 3.75, 2.5]]> : tensor<5x8xf32>
  %b = check.input dense<[[1.0, -2.0, 4.0, 3.75, -3.5, -2.5, -2.5, -2.75],
      [0.75, -1.25, -0.25, -2.25, 3.75, 1.5, 1.25, -3.25],
      [-2.75, 3.25, -1.5, 3.0, 2.25, -4.0, -0.25, 0.25],
      [-0.25, -3.25, 1.75, -2.0, -1.25, -0.75, -1.75, -0.5],
      [2.75, -0.25, 2.0, 3.5, -2.25, -2.0, 0.5, -2.5]]> : tensor<5x8xf32>
  %r = weir.pow %a, %b : tensor<5x8xf32>
  check.expect %r, dense<
      [[1.0, 1.0, 150.0625, 20.925915, 0.028995832, 0.079738535, 0.052515995, 6.7271714],
      [1.8371173, 1.0, 0.8408964, 0.044194173, 31.065264, 0.649519, 3.1435835, 1.0],
      [0.03190163, 110.22092, 0.11413441, 20.796875, 19.569077, 0.10662224, 1.0, 1.2574334],
      [0.8164966, 0.028142063, 12.58, 0.44444445, 0.19162886, 1.0, 0.37556353, 0.5345225],
      [1.8471516, 0.75983566, 5.0625, 24.705294, 0.038558923, 0.07111111, 1.9364917,
      0.101192884]]> : tensor<5x8xf32> within 5.0e-6 each
  return
}

// As in IEEE 754: anything to the 0 is 1, as is 1 to anything; a negative base takes whole
// exponents.
func.func @special_values() {
  %a = check.input dense<[0.0, 0.0, 0.0, 2.0, -2.0, -2.0, -2.0, 0x7FC00000, 1.0, 0x7F800000,
      0x7F800000, 0xFF800000, 0.5, 2.0, 10.0, 10.0, -1.0]> : tensor<17xf32>
  %b = check.input dense<[0.0, 1.0, -1.0, 0.0, 3.0, 2.0, 0.5, 0.0, 0x7FC00000, -1.0, 2.0, 3.0,
      0x7F800000, 0xFF800000, 39.0, -50.0, 0x7F800000]> : tensor<17xf32>
  %r = weir.pow %a, %b : tensor<17xf32>
  check.expect %r, dense<[1.0, 0.0, 0x7F800000, 1.0, -8.0, 4.0, 0x7FC00000, 1.0, 1.0, 0.0,
      0x7F800000, 0xFF800000, 0.0, 0.0, 0x7F800000, 0.0, 1.0]> : tensor<17xf32> within 2.0e-6 each
  return
}

func.func @constant_exponents() {
  %x = check.input dense<[3.0, -3.0, 0.0, 0.5, 0x7F800000]> : tensor<5xf32>
  %c0 = weir.constant 0.0 : f32 -> tensor<5xf32>
  %c1 = weir.constant 1.0 : f32 -> tensor<5xf32>
  %c2 = weir.constant 2.0 : f32 -> tensor<5xf32>
  %c3 = weir.constant 0.5 : f32 -> tensor<5xf32>
  %c4 = weir.constant -1.0 : f32 -> tensor<5xf32>
  %c5 = weir.constant 3.0 : f32 -> tensor<5xf32>
  %r0 = weir.pow %x, %c0 : tensor<5xf32>
  %r1 = weir.pow %x, %c1 : tensor<5xf32>
  %r2 = weir.pow %x, %c2 : tensor<5xf32>
  %r3 = weir.pow %x, %c3 : tensor<5xf32>
  %r4 = weir.pow %x, %c4 : tensor<5xf32>
  %r5 = weir.pow %x, %c5 : tensor<5xf32>
  check.expect %r0, dense<1.0> : tensor<5xf32> within 2.0e-6 each
  check.expect %r1, dense<[3.0, -3.0, 0.0, 0.5, 0x7F800000]> : tensor<5xf32> within 2.0e-6 each
  check.expect %r2, dense<[9.0, 9.0, 0.0, 0.25, 0x7F800000]> : tensor<5xf32> within 2.0e-6 each
  check.expect %r3, dense<[1.7320508, 0x7FC00000, 0.0, 0.70710677,
      0x7F800000]> : tensor<5xf32> within 2.0e-6 each
  check.expect %r4, dense<[0.33333334, -0.33333334, 0x7F800000, 2.0,
      0.0]> : tensor<5xf32> within 2.0e-6 each
  check.expect %r5, dense<[27.0, -27.0, 0.0, 0.125, 0x7F800000]> : tensor<5xf32> within 2.0e-6 each
  return
}
