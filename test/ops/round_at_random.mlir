// RUN: weir-check %s

// Between neighbours the draw decides; zeros, bf16, infinities and NaN stay; what is beyond the largest bf16 becomes that.
func.func @bits() {
  %x = check.input dense<[0x3F800000, 0x3F808000, 0x3F808000, 0x3F807FFF, 0x3F800001, 0x3F800001,
      0x3F80FFFF, 0x3F80FFFF, 0xBF808000, 0xBF808000, 0x3FFFFFFF, 0x00000000, 0x80000000, 0x7F800000,
      0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0xFF7F8000, 0x7F7F0000, 0x3DCCCCCD, 0x3DCCCCCD]> : tensor<21xf32>
  %u = check.input dense<[0.99999994, 0.5, 0.4999847, 0.5, 0.99999994, 0.99, 0.0, 1.52587890625e-05, 0.5, 0.49, 0.5, 0.9,
      0.9, 0.9, 0.0, 0.9, 0.99, 0.9, 0.99, 0.3, 0.0]> : tensor<21xf32>
  %y = weir.round_at_random %x by %u : tensor<21xf32>
  check.expect %y, dense<[0x3F800000, 0x3F810000, 0x3F800000, 0x3F800000, 0x3F810000, 0x3F800000,
      0x3F800000, 0x3F810000, 0xBF810000, 0xBF800000, 0x40000000, 0x00000000, 0x80000000, 0x7F800000,
      0xFF800000, 0x7FC00000, 0x7F7F0000, 0xFF7F0000, 0x7F7F0000, 0x3DCD0000, 0x3DCC0000]> : tensor<21xf32> exactly
  return
}

// A draw that is none in [0, 1) is the nearest that is.
func.func @draws() {
  %x = check.input dense<[0x3F800001, 0x3F800001, 0x3F80FFFF, 0x3F80FFFF, 0x3F80FFFF]> : tensor<5xf32>
  %u = check.input dense<[1.0, 0x7F800000, -0.5, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  %y = weir.round_at_random %x by %u : tensor<5xf32>
  check.expect %y, dense<[0x3F810000, 0x3F810000, 0x3F800000, 0x3F800000, 0x3F800000]> : tensor<5xf32> exactly
  return
}

// Of all draws that tell, as many go up as the lower sixteen bits of x say: the mean is x.
func.func @mean() {
  %x = check.input dense<[[0x3F800001], [0x3F801234], [0x3DCCCCCD], [0x427FFFFF], [0x4B008000]]> : tensor<5x1xf32>
  %i = weir.iota {dimension = 1 : i64} -> tensor<5x65536xi32>
  %f = weir.cast %i : tensor<5x65536xi32> -> tensor<5x65536xf32>
  %part = weir.constant 1.52587890625e-05 : f32 -> tensor<5x65536xf32>
  %u = weir.mul %f, %part : tensor<5x65536xf32>
  %wide = weir.broadcast %x {dimensions = array<i64: 0, 1>} : tensor<5x1xf32> -> tensor<5x65536xf32>
  %y = weir.round_at_random %wide by %u : tensor<5x65536xf32>
  %up = weir.compare gt %y, %wide : tensor<5x65536xf32> -> tensor<5x65536xi1>
  %ones = weir.cast %up : tensor<5x65536xi1> -> tensor<5x65536xf32>
  %count = weir.reduce sum %ones {axes = array<i64: 1>} : tensor<5x65536xf32> -> tensor<5xf32>
  check.expect %count, dense<[1.0, 4660.0, 52429.0, 65535.0, 32768.0]> : tensor<5xf32> exactly
  return
}

// A cast behind it rounds nothing any more.
func.func @then_cast() {
  %x = check.input dense<[0x3F80FFFF, 0x3F808001, 0xBF808001]> : tensor<3xf32>
  %u = check.input dense<[0.0, 0.0, 0.49]> : tensor<3xf32>
  %y = weir.round_at_random %x by %u : tensor<3xf32>
  %low = weir.cast %y : tensor<3xf32> -> tensor<3xbf16>
  %wide = weir.cast %low : tensor<3xbf16> -> tensor<3xf32>
  check.expect %wide, dense<[1.0, 1.0, -1.0]> : tensor<3xf32> exactly
  return
}
