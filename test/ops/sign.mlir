// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<-2.406> : tensor<f32>
  %y = weir.sign %x : tensor<f32>
  check.expect %y, dense<-1.0> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[-4.0, -3.469, -2.938, -2.406, -1.875, -1.344, -0.812, -0.281, 0.25, 0.781,
      1.312, 1.844, 2.375, 2.906, 3.438, 3.969, 4.5]> : tensor<17xf32>
  %y = weir.sign %x : tensor<17xf32>
  check.expect %y, dense<[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
      1.0, 1.0, 1.0, 1.0]> : tensor<17xf32> exactly
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[0.213, 8.108, -6.405, 8.076, -3.387, -1.38, 5.899, -1.634],
      [0.893, -8.504, 4.563, 0.687, -3.065, 5.192, -3.542, -0.837],
      [-6.587, -1.744, -5.338, -4.278, 4.507, -3.953, -0.267, 8.653],
      [8.31, 4.046, 0.742, -4.016, -6.108, 8.459, 0.289, -6.914],
      [2.223, 4.98, 2.034, 7.511, -8.287, 0.515, -0.732, -7.878]]> : tensor<5x8xf32>
  %y = weir.sign %x : tensor<5x8xf32>
  check.expect %y, dense<[[1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0],
      [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0],
      [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0],
      [1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0]]> : tensor<5x8xf32> exactly
  return
}

// NaN has no sign.
func.func @special_values() {
  %x = check.input dense<[0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 2.0e-38,
      -2.0e-38]> : tensor<7xf32>
  %y = weir.sign %x : tensor<7xf32>
  check.expect %y, dense<[0.0, 0.0, 1.0, -1.0, 0x7FC00000, 1.0, -1.0]> : tensor<7xf32> exactly
  return
}
