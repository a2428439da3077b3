// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<-3.75> : tensor<f32>
  %b = check.input dense<-0.75> : tensor<f32>
  %r = weir.min %a, %b : tensor<f32>
  check.expect %r, dense<-3.75> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[-0.25, 0.0, 2.0, 3.75, -3.75, -3.0, 2.75, 3.75, -2.0, -1.5, 3.0, -0.75,
      -1.75, 2.75, -2.0, -0.75, 1.25]> : tensor<17xf32>
  %b = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5]> : tensor<17xf32>
  %r = weir.min %a, %b : tensor<17xf32>
  check.expect %r, dense<[-0.25, -2.0, -3.25, -1.75, -3.75, -3.0, -0.5, -3.25, -2.0, -1.5, 2.5,
      -0.75, -1.75, -2.5, -2.0, -3.75, 0.5]> : tensor<17xf32> exactly
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
  %r = weir.min %a, %b : tensor<5x8xf32>
  check.expect %r, dense<[[-3.0, -3.0, 2.5, 0.0, -3.5, -2.5, -2.5, -4.0],
      [0.0, -3.0, -0.75, -2.25, 0.5, -3.5, 0.25, -3.25],
      [-2.75, 3.25, -1.5, 1.0, 2.25, -4.0, -3.0, 0.0],
      [-0.5, -3.25, 1.75, -2.0, -1.25, -3.0, -1.75, -0.5],
      [-2.0, -0.25, -0.25, 0.0, -2.25, -2.0, 0.5, -2.5]]> : tensor<5x8xf32> exactly
  return
}

// NaN if either is.
func.func @special_values() {
  %a = check.input dense<[0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0xFF800000, 2.0,
      0xFF800000]> : tensor<7xf32>
  %b = check.input dense<[1.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 2.0, 0x7F800000]> : tensor<7xf32>
  %r = weir.min %a, %b : tensor<7xf32>
  check.expect %r, dense<[0x7FC00000, 0x7FC00000, 0x7FC00000, 1.0, 0xFF800000, 2.0,
      0xFF800000]> : tensor<7xf32> exactly
  return
}

func.func @integers() {
  %a = check.input dense<[2147483647, -2147483648, -2147483648, 65536, -7, -54, 23, 510, 900, -931,
      -712, 645, 897, -502, -377, 738, -154]> : tensor<17xi32>
  %b = check.input dense<[1, -1, -2147483648, 65536, 3, 675, -477, -782, -404, -173, 628, -98, -817,
      -331, 200, 626, 457]> : tensor<17xi32>
  %r = weir.min %a, %b : tensor<17xi32>
  check.expect %r, dense<[1, -2147483648, -2147483648, 65536, -7, -54, -477, -782, -404, -931, -712,
      -98, -817, -502, -377, 626, -154]> : tensor<17xi32>
  return
}

func.func @with_itself() {
  %x = check.input dense<[1.5, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  %r = weir.min %x, %x : tensor<3xf32>
  check.expect %r, dense<[1.5, 0x7FC00000, 0xFF800000]> : tensor<3xf32> exactly
  return
}
