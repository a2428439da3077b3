// RUN: weir-check %s

func.func @along_each_axis() {
  %x = check.input dense<[[[-0.25, 0.0, 2.0, 3.75, -3.75], [-3.0, 2.75, 3.75, -2.0, -1.5],
      [3.0, -0.75, -1.75, 2.75, -2.0]], [[-0.75, 1.25, 0.5, -3.5, -4.0],
      [3.0, 2.0, 2.75, 0.25, 2.5], [-1.5, -0.5, 2.5, -3.0, -1.5]]]> : tensor<2x3x5xf32>
  %a = weir.argmax %x {axis = 0 : i64} : tensor<2x3x5xf32> -> tensor<3x5xi32>
  %b = weir.argmax %x {axis = 1 : i64} : tensor<2x3x5xf32> -> tensor<2x5xi32>
  %c = weir.argmax %x {axis = 2 : i64} : tensor<2x3x5xf32> -> tensor<2x3xi32>
  check.expect %a, dense<[[0, 1, 0, 0, 0], [1, 0, 0, 1, 1], [0, 1, 1, 0, 1]]> : tensor<3x5xi32>
  check.expect %b, dense<[[2, 1, 1, 0, 1], [1, 1, 1, 1, 1]]> : tensor<2x5xi32>
  check.expect %c, dense<[[3, 2, 0], [1, 0, 2]]> : tensor<2x3xi32>
  return
}

func.func @seventeen_columns() {
  %x = check.input dense<[[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5], [-1.75, -2.5, 1.25, -1.5, 0.5, -2.0, -3.0, 2.0, -0.5, 1.5, 1.5,
      3.75, -0.75, -2.25, 1.0, 3.5, 3.75]]> : tensor<2x17xf32>
  %r = weir.argmax %x {axis = 1 : i64} : tensor<2x17xf32> -> tensor<2xi32>
  check.expect %r, dense<[12, 11]> : tensor<2xi32>
  return
}

func.func @the_first_of_equals() {
  %x = check.input dense<[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-0.0, 0.0, 0.0],
      [0x7F800000, 1.0, 0x7F800000], [0xFF800000, 0xFF800000, 0xFF800000]]> : tensor<5x3xf32>
  %r = weir.argmax %x {axis = 1 : i64} : tensor<5x3xf32> -> tensor<5xi32>
  check.expect %r, dense<[1, 0, 0, 0, 0]> : tensor<5xi32>
  return
}

func.func @whole_numbers() {
  %x = check.input dense<[[-2147483648, -1, 2147483647], [5, 5, -2147483648]]> : tensor<2x3xi32>
  %r = weir.argmax %x {axis = 1 : i64} : tensor<2x3xi32> -> tensor<2xi32>
  check.expect %r, dense<[2, 0]> : tensor<2xi32>
  return
}

func.func @one_element() {
  %x = check.input dense<[7.0]> : tensor<1xf32>
  %r = weir.argmax %x {axis = 0 : i64} : tensor<1xf32> -> tensor<i32>
  check.expect %r, dense<0> : tensor<i32>
  return
}

func.func @not_a_number() {
  %x = check.input dense<[[1.0, 0x7FC00000, 0x7F800000], [0x7FC00000, 5.0, 0x7FC00000],
      [1.0, 2.0, 0x7FC00000]]> : tensor<3x3xf32>
  %r = weir.argmax %x {axis = 1 : i64} : tensor<3x3xf32> -> tensor<3xi32>
  check.expect %r, dense<[1, 0, 2]> : tensor<3xi32>
  return
}
