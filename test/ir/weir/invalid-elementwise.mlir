// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @neg_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.neg"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @abs_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.abs"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @exp_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.exp"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @log_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.log"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sqrt_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.sqrt"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @rsqrt_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.rsqrt"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @tanh_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.tanh"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sin_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.sin"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @cos_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.cos"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @erf_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.erf"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sign_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.sign"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @floor_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.floor"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @power_of_two_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.power_of_two"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @stop_gradient_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.stop_gradient"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @not_c1(%x: tensor<2xi1>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.not"(%x) : (tensor<2xi1>) -> tensor<3xi1>
  return
}

// -----

func.func @add_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @sub_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.sub"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @mul_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.mul"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @div_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.div"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @max_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.max"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @min_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.min"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @pow_c1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.pow"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rem_c1(%x: tensor<2xi32>, %y: tensor<3xi32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.rem"(%x, %y) : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @and_c1(%x: tensor<2xi1>, %y: tensor<3xi1>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.and"(%x, %y) : (tensor<2xi1>, tensor<3xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @or_c1(%x: tensor<2xi1>, %y: tensor<3xi1>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.or"(%x, %y) : (tensor<2xi1>, tensor<3xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_c1(%x: tensor<2xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{requires all operands to have the same type}}
  "weir.compare"(%x, %i) {predicate = 0 : i32} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_c2(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  weir.compare lt %x, %x : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @is_finite_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  weir.is_finite %x : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @select_c1(%c: tensor<2xi1>, %x: tensor<2xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{failed to verify that all of {onTrue, onFalse, result} have same type}}
  "weir.select"(%c, %x, %i) : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_c2(%x: tensor<2xf32>, %i: tensor<3xi1>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  weir.select %i, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

func.func @cast_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  weir.cast %x : tensor<2xf32> -> tensor<3xi32>
  return
}

// -----

func.func @cast_c2(%x: tensor<2xi32>) {
  // expected-error @below {{C2: 'i32' is not cast to 'bf16' but by way of f32}}
  weir.cast %x : tensor<2xi32> -> tensor<2xbf16>
  return
}

// -----

func.func @cast_c2_between_low(%x: tensor<2xf16>) {
  // expected-error @below {{C2: 'f16' is not cast to 'bf16' but by way of f32}}
  weir.cast %x : tensor<2xf16> -> tensor<2xbf16>
  return
}

// -----

func.func @exp_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.exp %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @abs_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.abs %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @log_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.log %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @sqrt_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.sqrt %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @rsqrt_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.rsqrt %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @tanh_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.tanh %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @sin_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.sin %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @cos_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.cos %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @erf_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.erf %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @sign_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.sign %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @power_of_two_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.power_of_two %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @floor_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.floor %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @stop_gradient_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.stop_gradient %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @neg_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.neg %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @not_c2(%x: tensor<2xi1>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.not %x {compute = bf16} : tensor<2xi1>
  return
}

// -----

func.func @sub_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.sub %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @mul_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.mul %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @div_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.div %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @rem_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.rem %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @max_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.max %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @min_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.min %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @pow_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.pow %x, %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @and_c2(%x: tensor<2xi1>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.and %x, %x {compute = bf16} : tensor<2xi1>
  return
}

// -----

func.func @or_c2(%x: tensor<2xi1>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.or %x, %x {compute = bf16} : tensor<2xi1>
  return
}

// -----

func.func @add_c2(%x: tensor<2xi32>) {
  // expected-error @below {{failed to verify that `compute` is of an op on floats}}
  weir.add %x, %x {compute = bf16} : tensor<2xi32>
  return
}

// -----

func.func @logic_of_numbers(%x: tensor<2xf32>) {
  // expected-error @below {{must be statically shaped tensor of 1-bit signless integer values}}
  weir.not %x : tensor<2xf32>
  return
}

// -----

func.func @round_at_random_c1(%x: tensor<2xf32>, %u: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.round_at_random"(%x, %u) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @expm1_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.expm1"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @expm1_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.expm1 %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @log1p_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.log1p"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @log1p_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.log1p %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @sigmoid_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.sigmoid"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sigmoid_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.sigmoid %x {compute = f64} : tensor<2xf32>
  return
}

// -----

func.func @normal_cdf_c1(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  "weir.normal_cdf"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @normal_cdf_c2(%x: tensor<2xf32>) {
  // expected-error @below {{attribute 'compute' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.normal_cdf %x {compute = f64} : tensor<2xf32>
  return
}
