// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<-2.406> : tensor<f32>
  %y = weir.power_of_two %x : tensor<f32>
  check.expect %y, dense<2.0> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[-4.0, -3.469, -2.938, -2.406, -1.875, -1.344, -0.812, -0.281, 0.25, 0.781,
      1.312, 1.844, 2.375, 2.906, 3.438, 3.969, 4.5]> : tensor<17xf32>
  %y = weir.power_of_two %x : tensor<17xf32>
  check.expect %y, dense<[4.0, 2.0, 2.0, 2.0, 1.0, 1.0, 0.5, 0.25, 0.25, 0.5, 1.0, 1.0, 2.0, 2.0,
      2.0, 2.0, 4.0]> : tensor<17xf32> exactly
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[0.213, 8.108, -6.405, 8.076, -3.387, -1.38, 5.899, -1.634],
      [0.893, -8.504, 4.563, 0.687, -3.065, 5.192, -3.542, -0.837],
      [-6.587, -1.744, -5.338, -4.278, 4.507, -3.953, -0.267, 8.653],
      [8.31, 4.046, 0.742, -4.016, -6.108, 8.459, 0.289, -6.914],
      [2.223, 4.98, 2.034, 7.511, -8.287, 0.515, -0.732, -7.878]]> : tensor<5x8xf32>
  %y = weir.power_of_two %x : tensor<5x8xf32>
  check.expect %y, dense<[[0.125, 8.0, 4.0, 8.0, 2.0, 1.0, 4.0, 1.0],
      [0.5, 8.0, 4.0, 0.5, 2.0, 4.0, 2.0, 0.5], [4.0, 1.0, 4.0, 4.0, 4.0, 2.0, 0.25, 8.0],
      [8.0, 4.0, 0.5, 4.0, 4.0, 8.0, 0.25, 4.0],
      [2.0, 4.0, 2.0, 4.0, 8.0, 0.5, 0.5, 4.0]]> : tensor<5x8xf32> exactly
  return
}

// The least and the largest float that has a power of two below it, and what has none.
func.func @special_values() {
  %x = check.input dense<[0.0, -0.0, 0x00800000, 0x00FFFFFF, 0x007FFFFF, 0x00000001, 0x7F7FFFFF,
      0.99999994, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<11xf32>
  %y = weir.power_of_two %x : tensor<11xf32>
  check.expect %y, dense<[0.0, 0.0, 0x00800000, 0x00800000, 0.0, 0.0, 0x7F000000, 0.5,
      0x7F800000, 0x7F800000, 0x7F800000]> : tensor<11xf32> exactly
  return
}
