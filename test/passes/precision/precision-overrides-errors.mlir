// RUN: weir-opt --verify-diagnostics --weir-strategy="precision=bf16" --weir-mixed-precision %s

func.func @misspelt(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{weir.pin = "f9": expected f32, bf16, f16, f8, f8_block or tf32}}
  %y = weir.matmul %x, %w {weir.pin = "f9"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
