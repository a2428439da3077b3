// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<-3.938> : tensor<f32>
  %y = weir.exp %x : tensor<f32>
  check.expect %y, dense<0.01948715> : tensor<f32> within 2.0e-6 each
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[-6.0, -5.312, -4.625, -3.938, -3.25, -2.562, -1.875, -1.188, -0.5, 0.188,
      0.875, 1.562, 2.25, 2.938, 3.625, 4.312, 5.0]> : tensor<17xf32>
  %y = weir.exp %x : tensor<17xf32>
  check.expect %y, dense<[0.0024787523, 0.004932054, 0.009803655, 0.01948715, 0.038774207,
      0.077150285, 0.15335497, 0.3048303, 0.60653067, 1.2068335, 2.3988752, 4.7683487, 9.487736,
      18.878052, 37.524723, 74.5895, 148.41316]> : tensor<17xf32> within 2.0e-6 each
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[0.473, 18.019, -14.234, 17.946, -7.527, -3.067, 13.108, -3.632],
      [1.984, -18.898, 10.141, 1.526, -6.811, 11.537, -7.872, -1.86],
      [-14.638, -3.875, -11.862, -9.507, 10.015, -8.784, -0.592, 19.229],
      [18.466, 8.992, 1.649, -8.924, -13.574, 18.797, 0.643, -15.365],
      [4.94, 11.067, 4.52, 16.692, -18.416, 1.144, -1.627, -17.506]]> : tensor<5x8xf32>
  %y = weir.exp %x : tensor<5x8xf32>
  check.expect %y, dense<[[1.6048014, 6.6919376e7, 6.5803994e-7, 6.2208308e7, 0.0005383509,
      0.04656063, 492869.53, 0.026463205], [7.271772, 6.2044396e-9, 25361.81, 4.599741,
      0.0011015909, 102436.63, 0.00038127098, 0.15567262], [4.393368e-7, 0.020754337, 7.0534024e-6,
      7.43297e-5, 22359.361, 0.00015316415, 0.55321974, 2.2441333e8], [1.0463614e8, 8038.5146,
      5.2017756, 0.0001331546, 1.2731705e-6, 1.4569134e8, 1.9021789, 2.1235641e-7], [139.77026,
      64023.176, 91.835594, 1.7751834e7, 1.00469135e-8, 3.1393006, 0.19651826,
      2.495977e-8]]> : tensor<5x8xf32> within 2.0e-6 each
  return
}

// What is too large is infinite, what is too small is 0.
func.func @special_values() {
  %x = check.input dense<[0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 89.0,
      -150.0]> : tensor<7xf32>
  %y = weir.exp %x : tensor<7xf32>
  check.expect %y, dense<[1.0, 1.0, 0x7F800000, 0.0, 0x7FC00000, 0x7F800000, 0.0]> : tensor<7xf32>
  return
}

// The largest result that is finite is e^88.72, the smallest that is normal e^-87.
func.func @close_to_the_limits() {
  %x = check.input dense<[88.5, 88.72, -80.0, -87.0]> : tensor<4xf32>
  %y = weir.exp %x : tensor<4xf32>
  check.expect %y, dense<[2.723088e38, 3.3931806e38, 1.8048513e-35,
      1.6458115e-38]> : tensor<4xf32> within 1.0e-5 each
  return
}
