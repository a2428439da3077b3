// RUN: weir-check %s

// Truncated, at most the bounds, NaN to the lowest.
func.func @floats_to_integers() {
  %x = check.input dense<[0.0, -0.0, 1.0, 1.9, -1.9, 0.5, -0.5, 2.1474835e9, 2.1474836e9, 3.0e9,
      -2.1474836e9, -3.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, 1.6777216e7, -7.5]> : tensor<17xf32>
  %r = weir.cast %x : tensor<17xf32> -> tensor<17xi32>
  check.expect %r, dense<[0, 0, 1, 1, -1, 0, 0, 2147483520, 2147483647, 2147483647, -2147483648,
      -2147483648, 2147483647, -2147483648, -2147483648, 16777216, -7]> : tensor<17xi32>
  return
}

// Anything but 0 is true, NaN too.
func.func @floats_to_bytes_and_truth_values() {
  %x = check.input dense<[0.0, 1.9, -0.9, -5.0, 254.9, 255.0, 256.0, 1.0e10, 0x7F800000, 0xFF800000,
      0x7FC00000, 127.5, 128.5]> : tensor<13xf32>
  %r = weir.cast %x : tensor<13xf32> -> tensor<13xui8>
  %b = weir.cast %x : tensor<13xf32> -> tensor<13xi1>
  check.expect %r, dense<[0, 1, 0, 0, 254, 255, 255, 255, 255, 0, 0, 127, 128]> : tensor<13xui8>
  check.expect %b, dense<[false, true, true, true, true, true, true, true, true, true, true, true,
      true]> : tensor<13xi1>
  return
}

func.func @from_integers() {
  %x = check.input dense<[0, 1, -1, 16777217, 2147483647, -2147483648, 300, 255]> : tensor<8xi32>
  %f = weir.cast %x : tensor<8xi32> -> tensor<8xf32>
  %u = weir.cast %x : tensor<8xi32> -> tensor<8xui8>
  %b = weir.cast %x : tensor<8xi32> -> tensor<8xi1>
  check.expect %f, dense<[0.0, 1.0, -1.0, 1.6777216e7, 2.1474836e9, -2.1474836e9, 300.0,
      255.0]> : tensor<8xf32> exactly
  check.expect %u, dense<[0, 1, 0, 255, 255, 0, 255, 255]> : tensor<8xui8>
  check.expect %b, dense<[false, true, true, true, true, true, true, true]> : tensor<8xi1>
  return
}

// Bytes have no sign.
func.func @from_bytes() {
  %x = check.input dense<[0, 1, 127, 128, 200, 255]> : tensor<6xui8>
  %f = weir.cast %x : tensor<6xui8> -> tensor<6xf32>
  %i = weir.cast %x : tensor<6xui8> -> tensor<6xi32>
  %b = weir.cast %x : tensor<6xui8> -> tensor<6xi1>
  check.expect %f, dense<[0.0, 1.0, 127.0, 128.0, 200.0, 255.0]> : tensor<6xf32> exactly
  check.expect %i, dense<[0, 1, 127, 128, 200, 255]> : tensor<6xi32>
  check.expect %b, dense<[false, true, true, true, true, true]> : tensor<6xi1>
  return
}

func.func @from_truth_values() {
  %x = check.input dense<[true, true, false, false, true, true, false, false, false, true, true,
      false, false, false, true, false, true]> : tensor<17xi1>
  %f = weir.cast %x : tensor<17xi1> -> tensor<17xf32>
  %i = weir.cast %x : tensor<17xi1> -> tensor<17xi32>
  %u = weir.cast %x : tensor<17xi1> -> tensor<17xui8>
  check.expect %f, dense<[1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0,
      0.0, 1.0]> : tensor<17xf32> exactly
  check.expect %i, dense<[1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1]> : tensor<17xi32>
  check.expect %u, dense<[1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1]> : tensor<17xui8>
  return
}

func.func @of_constants() {
  %f = weir.constant 3.0e9 : f32 -> tensor<2xf32>
  %n = weir.constant 0x7FC00000 : f32 -> tensor<2xf32>
  %i = weir.constant -1 : i32 -> tensor<2xi32>
  %a = weir.cast %f : tensor<2xf32> -> tensor<2xi32>
  %b = weir.cast %n : tensor<2xf32> -> tensor<2xi32>
  %c = weir.cast %f : tensor<2xf32> -> tensor<2xui8>
  %d = weir.cast %i : tensor<2xi32> -> tensor<2xui8>
  check.expect %a, dense<2147483647> : tensor<2xi32>
  check.expect %b, dense<-2147483648> : tensor<2xi32>
  check.expect %c, dense<255> : tensor<2xui8>
  check.expect %d, dense<0> : tensor<2xui8>
  return
}

// Nothing is stored behind the last element of a row.
func.func @row_of_one_more_than_a_vector() {
  %x = check.input dense<5> : tensor<64x33xi32>
  %behind = check.input dense<7> : tensor<32xi32>
  %low = weir.cast %x : tensor<64x33xi32> -> tensor<64x33xui8>
  check.expect %low, dense<5> : tensor<64x33xui8>
  check.expect %behind, dense<7> : tensor<32xi32>
  return
}
