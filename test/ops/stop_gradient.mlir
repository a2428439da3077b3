// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<-2.406> : tensor<f32>
  %y = weir.stop_gradient %x : tensor<f32>
  check.expect %y, dense<-2.406> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[-4.0, -3.469, -2.938, -2.406, -1.875, -1.344, -0.812, -0.281, 0.25, 0.781,
      1.312, 1.844, 2.375, 2.906, 3.438, 3.969, 4.5]> : tensor<17xf32>
  %y = weir.stop_gradient %x : tensor<17xf32>
  check.expect %y, dense<[-4.0, -3.469, -2.938, -2.406, -1.875, -1.344, -0.812, -0.281, 0.25, 0.781,
      1.312, 1.844, 2.375, 2.906, 3.438, 3.969, 4.5]> : tensor<17xf32> exactly
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[0.213, 8.108, -6.405, 8.076, -3.387, -1.38, 5.899, -1.634],
      [0.893, -8.504, 4.563, 0.687, -3.065, 5.192, -3.542, -0.837],
      [-6.587, -1.744, -5.338, -4.278, 4.507, -3.953, -0.267, 8.653],
      [8.31, 4.046, 0.742, -4.016, -6.108, 8.459, 0.289, -6.914],
      [2.223, 4.98, 2.034, 7.511, -8.287, 0.515, -0.732, -7.878]]> : tensor<5x8xf32>
  %y = weir.stop_gradient %x : tensor<5x8xf32>
  check.expect %y, dense<[[0.213, 8.108, -6.405, 8.076, -3.387, -1.38, 5.899, -1.634],
      [0.893, -8.504, 4.563, 0.687, -3.065, 5.192, -3.542, -0.837],
      [-6.587, -1.744, -5.338, -4.278, 4.507, -3.953, -0.267, 8.653],
      [8.31, 4.046, 0.742, -4.016, -6.108, 8.459, 0.289, -6.914],
      [2.223, 4.98, 2.034, 7.511, -8.287, 0.515, -0.732, -7.878]]> : tensor<5x8xf32> exactly
  return
}

func.func @special_values() {
  %x = check.input dense<[0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  %y = weir.stop_gradient %x : tensor<5xf32>
  check.expect %y, dense<[0.0, 0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<5xf32> exactly
  return
}

// The gradient of sum(x * stop_gradient(x)) is x, not 2 x.
func.func @no_gradient_flows() {
  %x = check.input dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %s = weir.stop_gradient %x : tensor<3xf32>
  %p = weir.mul %x, %s : tensor<3xf32>
  %loss = weir.reduce sum %p {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt(%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect %g, dense<[1.0, -2.0, 3.0]> : tensor<3xf32> exactly
  return
}
