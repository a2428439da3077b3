// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @shapes_differ(%x: tensor<2xf32>, %i: tensor<3xi1>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  weir.select %i, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

func.func @compute_is_not_f32(%x: tensor<2xf32>) {
  // expected-error @below {{'compute' failed to satisfy constraint}}
  weir.exp %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @logic_of_numbers(%x: tensor<2xf32>) {
  // expected-error @below {{must be statically shaped tensor of 1-bit signless integer values}}
  weir.not %x : tensor<2xf32>
  return
}
