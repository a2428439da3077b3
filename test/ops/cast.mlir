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

// To nearest, ties to even; what is too large is infinite.
func.func @rounds_to_bf16() {
  %x = check.input dense<[1.0, 1.00390625, 1.01171875, 1.00390637, -1.00390625, 3.38953139e38, 3.4e38, 0x7F800000, 0xFF800000,
      0x7FC00000, -0.0, 0.1, 65504.0, 1.0e-30, 255.5, 256.5, 257.0]> : tensor<17xf32>
  %low = weir.cast %x : tensor<17xf32> -> tensor<17xbf16>
  %r = weir.cast %low : tensor<17xbf16> -> tensor<17xf32>
  check.expect %r, dense<[1.0, 1.0, 1.015625, 1.0078125, -1.0, 3.38953139e38, 0x7F800000, 0x7F800000, 0xFF800000,
      0x7FC00000, -0.0, 0.100097656, 65536.0, 9.98402083e-31, 256.0, 256.0, 256.0]> : tensor<17xf32> exactly
  return
}

// Its least number is 2^-24.
func.func @rounds_to_f16() {
  %x = check.input dense<[1.0, 1.00048828125, 1.00146484375, 65504.0, 65519.0, 65520.0, -1.0e6, 0x7F800000, 0x7FC00000,
      5.96046448e-8, 2.98023224e-8, 3.0e-8, -8.94069672e-8, 6.10351563e-5, 6.1e-5, 0.1, -0.0]> : tensor<17xf32>
  %low = weir.cast %x : tensor<17xf32> -> tensor<17xf16>
  %r = weir.cast %low : tensor<17xf16> -> tensor<17xf32>
  check.expect %r, dense<[1.0, 1.0, 1.001953125, 65504.0, 65504.0, 0x7F800000, 0xFF800000, 0x7F800000, 0x7FC00000,
      5.96046448e-8, 0.0, 5.96046448e-8, -1.1920929e-7, 6.10351563e-5, 6.09755516e-5, 0.0999755859, -0.0]> : tensor<17xf32> exactly
  return
}

// There is no infinity: what is too large is no number. Its least number is 2^-9.
func.func @rounds_to_f8e4m3() {
  %x = check.input dense<[1.0, 17.0, 19.0, 448.0, 464.0, 465.0, -1.0e6, 0x7F800000, 0x7FC00000, 0.001953125, 0.0009765625,
      0.00097656256, -0.0029296875, 0.015625, 0.0146484375, 0.1, -0.0]> : tensor<17xf32>
  %low = weir.cast %x : tensor<17xf32> -> tensor<17xf8E4M3FN>
  %r = weir.cast %low : tensor<17xf8E4M3FN> -> tensor<17xf32>
  check.expect %r, dense<[1.0, 16.0, 20.0, 448.0, 448.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0.001953125, 0.0,
      0.001953125, -0.00390625, 0.015625, 0.015625, 0.1015625, -0.0]> : tensor<17xf32> exactly
  return
}

func.func @rounds_to_f8e5m2() {
  %x = check.input dense<[1.0, 1.125, 1.375, 57344.0, 61439.0, 61440.0, -1.0e6, 0x7F800000, 0x7FC00000, 1.52587891e-5, 7.62939453e-6,
      7.7e-6, -2.28881836e-5, 6.10351563e-5, 0.1, 3.0, -0.0]> : tensor<17xf32>
  %low = weir.cast %x : tensor<17xf32> -> tensor<17xf8E5M2>
  %r = weir.cast %low : tensor<17xf8E5M2> -> tensor<17xf32>
  check.expect %r, dense<[1.0, 1.0, 1.5, 57344.0, 57344.0, 0x7F800000, 0xFF800000, 0x7F800000, 0x7FC00000, 1.52587891e-5, 0.0,
      1.52587891e-5, -3.05175781e-5, 6.10351563e-5, 0.09375, 3.0, -0.0]> : tensor<17xf32> exactly
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
func.func @row_of_low_precision_of_one_more_than_a_vector() {
  %x = check.input dense<1.5> : tensor<32x33xf32>
  %behind = check.input dense<7> : tensor<32xi32>
  %low = weir.cast %x : tensor<32x33xf32> -> tensor<32x33xbf16>
  %r = weir.cast %low : tensor<32x33xbf16> -> tensor<32x33xf32>
  check.expect %r, dense<1.5> : tensor<32x33xf32>
  check.expect %behind, dense<7> : tensor<32xi32>
  return
}

// Whole numbers and truth values to low precision.
func.func @whole_to_low() {
  %i = check.input dense<[1, -3, 257, 0]> : tensor<4xi32>
  %b = check.input dense<[true, false, true, true]> : tensor<4xi1>
  %f = weir.cast %i : tensor<4xi32> -> tensor<4xf32>
  %t = weir.cast %b : tensor<4xi1> -> tensor<4xf32>
  %low = weir.cast %f : tensor<4xf32> -> tensor<4xbf16>
  %f8 = weir.cast %t : tensor<4xf32> -> tensor<4xf8E5M2>
  %x = weir.cast %low : tensor<4xbf16> -> tensor<4xf32>
  %y = weir.cast %f8 : tensor<4xf8E5M2> -> tensor<4xf32>
  check.expect %x, dense<[1.0, -3.0, 256.0, 0.0]> : tensor<4xf32> exactly
  check.expect %y, dense<[1.0, 0.0, 1.0, 1.0]> : tensor<4xf32> exactly
  return
}

// From one float of low precision to another, by way of f32, each rounding once: 1.05 is 1.046875 in bf16, and 1 in f8E4M3FN.
func.func @narrower_still() {
  %x = check.input dense<[1.05, 1.0703125, -300.0, 0.1]> : tensor<4xf32>
  %low = weir.cast %x : tensor<4xf32> -> tensor<4xbf16>
  %wide = weir.cast %low : tensor<4xbf16> -> tensor<4xf32>
  %f8 = weir.cast %wide : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %half = weir.cast %wide : tensor<4xf32> -> tensor<4xf16>
  %a = weir.cast %f8 : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %b = weir.cast %half : tensor<4xf16> -> tensor<4xf32>
  check.expect %a, dense<[1.0, 1.125, -288.0, 0.1015625]> : tensor<4xf32> exactly
  check.expect %b, dense<[1.046875, 1.0703125, -300.0, 0.10009765625]> : tensor<4xf32> exactly
  return
}
