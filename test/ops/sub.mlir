// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<-3.75> : tensor<f32>
  %b = check.input dense<-0.75> : tensor<f32>
  %r = weir.sub %a, %b : tensor<f32>
  check.expect %r, dense<-3.0> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[-0.25, 0.0, 2.0, 3.75, -3.75, -3.0, 2.75, 3.75, -2.0, -1.5, 3.0, -0.75,
      -1.75, 2.75, -2.0, -0.75, 1.25]> : tensor<17xf32>
  %b = check.input dense<[2.75, -2.0, -3.25, -1.75, -0.75, 2.5, -0.5, -3.25, -1.25, 0.75, 2.5, 2.0,
      4.0, -2.5, 3.25, -3.75, 0.5]> : tensor<17xf32>
  %r = weir.sub %a, %b : tensor<17xf32>
  check.expect %r, dense<[-3.0, 2.0, 5.25, 5.5, -3.0, -5.5, 3.25, 7.0, -0.75, -2.25, 0.5, -2.75,
      -5.75, 5.25, -5.25, 3.0, 0.75]> : tensor<17xf32> exactly
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
  %r = weir.sub %a, %b : tensor<5x8xf32>
  check.expect %r, dense<[[-4.0, -1.0, -1.5, -3.75, 4.25, 3.25, 4.25, -1.25],
      [-0.75, -1.75, -0.5, 5.75, -3.25, -5.0, -1.0, 0.25],
      [4.75, 0.5, 5.5, -2.0, 0.75, 3.0, -2.75, -0.25],
      [-0.25, 4.5, 2.25, 0.25, 4.25, -2.25, 0.5, 3.0],
      [-4.75, 1.75, -2.25, -3.5, 6.0, 4.5, 2.25, 3.0]]> : tensor<5x8xf32> exactly
  return
}

// Equal infinities have no difference; what is too large is infinite; 2^24 + 1 is no f32.
func.func @special_values() {
  %a = check.input dense<[0x7F800000, 0x7F800000, 0x7FC00000, 1.0, -0.0, 0.0, -3.0e38,
      1.6777216e7]> : tensor<8xf32>
  %b = check.input dense<[0x7F800000, 1.0, 1.0, 0x7FC00000, 0.0, 0.0, 3.0e38, -1.0]> : tensor<8xf32>
  %r = weir.sub %a, %b : tensor<8xf32>
  check.expect %r, dense<[0x7FC00000, 0x7F800000, 0x7FC00000, 0x7FC00000, 0.0, 0.0, 0xFF800000,
      1.6777216e7]> : tensor<8xf32> exactly
  return
}

// Integers wrap around.
func.func @integers() {
  %a = check.input dense<[2147483647, -2147483648, -2147483648, 65536, -7, -54, 23, 510, 900, -931,
      -712, 645, 897, -502, -377, 738, -154]> : tensor<17xi32>
  %b = check.input dense<[1, -1, -2147483648, 65536, 3, 675, -477, -782, -404, -173, 628, -98, -817,
      -331, 200, 626, 457]> : tensor<17xi32>
  %r = weir.sub %a, %b : tensor<17xi32>
  check.expect %r, dense<[2147483646, -2147483647, 0, 0, -10, -729, 500, 1292, 1304, -758, -1340,
      743, 1714, -171, -577, 112, -611]> : tensor<17xi32>
  return
}

// x - x is 0 only where x is finite.
func.func @with_constants() {
  %x = check.input dense<[1.5, -2.25, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<4xf32>
  %one = weir.constant 1.0 : f32 -> tensor<4xf32>
  %a = weir.sub %x, %zero : tensor<4xf32>
  %b = weir.sub %one, %x : tensor<4xf32>
  %c = weir.sub %x, %x : tensor<4xf32>
  check.expect %a, dense<[1.5, -2.25, 0x7FC00000, 0x7F800000]> : tensor<4xf32> exactly
  check.expect %b, dense<[-0.5, 3.25, 0x7FC00000, 0xFF800000]> : tensor<4xf32> exactly
  check.expect %c, dense<[0.0, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<4xf32> exactly
  return
}

// What was added does not come back from an infinite sum, whoever sees both operations.
func.func @of_a_sum() {
  %a = check.input dense<[1.5, 0x7F800000, 0x7FC00000]> : tensor<3xf32>
  %b = check.input dense<[2.0, 1.0, 1.0]> : tensor<3xf32>
  %sum = weir.add %a, %b : tensor<3xf32>
  %r = weir.sub %sum, %a : tensor<3xf32>
  check.expect %r, dense<[2.0, 0x7FC00000, 0x7FC00000]> : tensor<3xf32> exactly
  return
}
