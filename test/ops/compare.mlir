// RUN: weir-check %s

// With NaN only ne holds; the zeros are equal.
func.func @floats() {
  %a = check.input dense<[1.0, 2.0, 2.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000,
      0.0]> : tensor<9xf32>
  %b = check.input dense<[2.0, 1.0, 2.0, 1.0, 0x7FC00000, 0x7FC00000, 0x7F800000, 0x7F800000,
      -0.0]> : tensor<9xf32>
  %eq = weir.compare eq %a, %b : tensor<9xf32> -> tensor<9xi1>
  %ne = weir.compare ne %a, %b : tensor<9xf32> -> tensor<9xi1>
  %lt = weir.compare lt %a, %b : tensor<9xf32> -> tensor<9xi1>
  %le = weir.compare le %a, %b : tensor<9xf32> -> tensor<9xi1>
  %gt = weir.compare gt %a, %b : tensor<9xf32> -> tensor<9xi1>
  %ge = weir.compare ge %a, %b : tensor<9xf32> -> tensor<9xi1>
  check.expect %eq, dense<[false, false, true, false, false, false, true, false,
      true]> : tensor<9xi1>
  check.expect %ne, dense<[true, true, false, true, true, true, false, true, false]> : tensor<9xi1>
  check.expect %lt, dense<[true, false, false, false, false, false, false, true,
      false]> : tensor<9xi1>
  check.expect %le, dense<[true, false, true, false, false, false, true, true, true]> : tensor<9xi1>
  check.expect %gt, dense<[false, true, false, false, false, false, false, false,
      false]> : tensor<9xi1>
  check.expect %ge, dense<[false, true, true, false, false, false, true, false,
      true]> : tensor<9xi1>
  return
}

// Integers have signs.
func.func @integers() {
  %a = check.input dense<[1, 2, 2, -2147483648, 2147483647, -1]> : tensor<6xi32>
  %b = check.input dense<[2, 1, 2, 2147483647, -2147483648, 0]> : tensor<6xi32>
  %eq = weir.compare eq %a, %b : tensor<6xi32> -> tensor<6xi1>
  %ne = weir.compare ne %a, %b : tensor<6xi32> -> tensor<6xi1>
  %lt = weir.compare lt %a, %b : tensor<6xi32> -> tensor<6xi1>
  %le = weir.compare le %a, %b : tensor<6xi32> -> tensor<6xi1>
  %gt = weir.compare gt %a, %b : tensor<6xi32> -> tensor<6xi1>
  %ge = weir.compare ge %a, %b : tensor<6xi32> -> tensor<6xi1>
  check.expect %eq, dense<[false, false, true, false, false, false]> : tensor<6xi1>
  check.expect %ne, dense<[true, true, false, true, true, true]> : tensor<6xi1>
  check.expect %lt, dense<[true, false, false, true, false, true]> : tensor<6xi1>
  check.expect %le, dense<[true, false, true, true, false, true]> : tensor<6xi1>
  check.expect %gt, dense<[false, true, false, false, true, false]> : tensor<6xi1>
  check.expect %ge, dense<[false, true, true, false, true, false]> : tensor<6xi1>
  return
}

func.func @one_element() {
  %a = check.input dense<-1.5> : tensor<f32>
  %b = check.input dense<2.0> : tensor<f32>
  %r = weir.compare lt %a, %b : tensor<f32> -> tensor<i1>
  check.expect %r, dense<true> : tensor<i1>
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[0.5, 0.75, -1.0, 0.75, 0.0, 0.0, 0.25, -0.5, 1.0, -1.0, -0.5, -0.25, 0.25,
      -0.25, -0.75, -1.0, -1.0]> : tensor<17xf32>
  %b = check.input dense<[0.0, 0.0, 0.0, -0.25, 1.0, -0.25, 0.25, -0.25, 0.0, 1.0, -0.75, 0.25,
      -0.25, 0.5, 0.5, -0.5, 0.5]> : tensor<17xf32>
  %r = weir.compare ge %a, %b : tensor<17xf32> -> tensor<17xi1>
  check.expect %r, dense<[true, true, false, true, false, true, true, false, true, false, true,
      false, true, false, false, false, false]> : tensor<17xi1>
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[1, 2, -2, 2, 0, 0, 1, -1], [2, -2, -1, -1, 0, 0, -2, -2],
      [-2, -2, -2, 2, -2, 1, 1, -1], [-1, 0, -1, 2, -2, 2, 1, 2],
      [-2, -1, 1, 0, 1, 1, 1, -2]]> : tensor<5x8xi32>
  %b = check.input dense<[[0, 0, 0, -1, 2, -1, 1, -1], [0, 2, -2, 1, 0, 1, 1, -1],
      [1, 1, 0, -2, 1, -2, 2, 2], [2, -2, 2, 2, 0, 2, 1, 1],
      [-2, -2, -1, -1, 0, 2, 1, 0]]> : tensor<5x8xi32>
  %r = weir.compare eq %a, %b : tensor<5x8xi32> -> tensor<5x8xi1>
  check.expect %r, dense<[[false, false, false, false, false, false, true, true],
      [false, false, false, false, true, false, false, false],
      [false, false, false, false, false, false, false, false],
      [false, false, false, true, false, true, true, false],
      [true, false, false, false, false, false, true, false]]> : tensor<5x8xi1>
  return
}

// NaN is not equal to itself.
func.func @with_itself() {
  %x = check.input dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %e = weir.compare eq %x, %x : tensor<2xf32> -> tensor<2xi1>
  %n = weir.compare ne %x, %x : tensor<2xf32> -> tensor<2xi1>
  check.expect %e, dense<[true, false]> : tensor<2xi1>
  check.expect %n, dense<[false, true]> : tensor<2xi1>
  return
}
