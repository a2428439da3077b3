// RUN: weir-check %s

func.func @one_element() {
  %x = check.input dense<0.051> : tensor<f32>
  %y = weir.log %x : tensor<f32>
  check.expect %y, dense<-2.9759297> : tensor<f32> within 2.0e-6 each
  return
}

func.func @seventeen_elements() {
  %x = check.input dense<[0.01, 0.017, 0.03, 0.051, 0.088, 0.152, 0.261, 0.45, 0.775, 1.334, 2.298,
      3.958, 6.817, 11.742, 20.225, 34.835, 60.0]> : tensor<17xf32>
  %y = weir.log %x : tensor<17xf32>
  check.expect %y, dense<[-4.6051702, -4.074542, -3.506558, -2.9759297, -2.4304185, -1.8838748,
      -1.3432349, -0.79850775, -0.2548923, 0.28818193, 0.83203924, 1.3757389, 1.9194195, 2.4631722,
      3.0069194, 3.5506227, 4.0943446]> : tensor<17xf32> within 2.0e-6 each
  return
}

func.func @forty_elements() {
  %x = check.input dense<[[46.088, 85.544, 13.017, 85.381, 28.099, 38.128, 74.502, 36.857],
      [49.486, 2.529, 67.829, 48.456, 29.709, 70.969, 27.322, 40.842],
      [12.107, 36.31, 18.351, 23.645, 67.545, 25.273, 43.693, 88.267],
      [86.551, 65.245, 48.733, 24.956, 14.501, 87.295, 46.47, 10.472],
      [56.133, 69.913, 55.19, 82.561, 3.611, 47.597, 41.367, 5.658]]> : tensor<5x8xf32>
  %y = weir.log %x : tensor<5x8xf32>
  check.expect %y, dense<
      [[3.8305526, 4.449031, 2.5662563, 4.4471235, 3.3357341, 3.6409488, 4.310826, 3.6070454],
      [3.9016898, 0.92782396, 4.21699, 3.8806562, 3.39145, 4.2622433, 3.3076923, 3.7097108],
      [2.4937837, 3.5920932, 2.909684, 3.1631517, 4.212794, 3.2297366, 3.7771878, 4.480366],
      [4.460734, 4.178149, 3.8863564, 3.2171142, 2.6742177, 4.469293, 3.8388069, 2.348705],
      [4.027724, 4.2472515, 4.010782, 4.4135375, 1.2839848, 3.8627698, 3.7224834,
      1.7330705]]> : tensor<5x8xf32> within 2.0e-6 each
  return
}

// 0 has the logarithm -infinity, negative numbers have none.
func.func @special_values() {
  %x = check.input dense<[1.0, 0.0, -0.0, -1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<7xf32>
  %y = weir.log %x : tensor<7xf32>
  check.expect %y, dense<[0.0, 0xFF800000, 0xFF800000, 0x7FC00000, 0x7F800000, 0x7FC00000,
      0x7FC00000]> : tensor<7xf32>
  return
}

// Very small and very large numbers, and the neighbours of 1.
func.func @close_to_the_limits() {
  %x = check.input dense<[1.0e-30, 1.2e-38, 1.0e30, 3.4e38, 0.99999994, 1.0000001]> : tensor<6xf32>
  %y = weir.log %x : tensor<6xf32>
  check.expect %y, dense<[-69.07755, -87.31591, 69.07755, 88.72201, -5.9604645e-8,
      1.1920928e-7]> : tensor<6xf32> within 1.0e-5 each
  return
}
