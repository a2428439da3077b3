// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs strictly increasing axes below 2}}
  weir.reduce sum %x {axes = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 2, but is 6}}
  weir.reduce sum %x {axes = array<i64: 1>} : tensor<2x6xf32> -> tensor<6xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<2x6xf32>) {
  // expected-error @below {{keeps no sum of floats, but has `accumulate`}}
  weir.reduce max %x {axes = array<i64: 1>, accumulate = f16} : tensor<2x6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c3_type(%x: tensor<2x6xf32>) {
  // expected-error @below {{attribute 'accumulate' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  weir.reduce sum %x {axes = array<i64: 1>, accumulate = i32} : tensor<2x6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @matmul_declares_no_compute(%x: tensor<4x4xf32>) {
  // expected-error @below {{failed to verify that `compute` and `accumulate` are of an op that declares them}}
  weir.matmul %x, %x {compute = bf16} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @log_softmax_declares_no_compute(%x: tensor<4x4xf32>) {
  // expected-error @below {{failed to verify that `compute` and `accumulate` are of an op that declares them}}
  weir.log_softmax %x {compute = "bf16"} : tensor<4x4xf32>
  return
}

// -----

func.func @exp_declares_no_accumulate(%x: tensor<4xf32>) {
  // expected-error @below {{failed to verify that `compute` and `accumulate` are of an op that declares them}}
  weir.exp %x {accumulate = f16} : tensor<4xf32>
  return
}

// -----

weir.variable parameter @w : tensor<4xf32>
func.func @read_declares_no_compute() {
  // expected-error @below {{failed to verify that `compute` and `accumulate` are of an op that declares them}}
  weir.read @w {compute = f32} : tensor<4xf32>
  return
}

// -----

func.func @argmax_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{has no axis 2 among 2}}
  weir.argmax %x {axis = 2 : i64} : tensor<2x6xf32> -> tensor<2xi32>
  return
}

// -----

func.func @argmax_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 2, but is 6}}
  weir.argmax %x {axis = 1 : i64} : tensor<2x6xf32> -> tensor<6xi32>
  return
}

// -----

func.func @matmul_c1(%x: tensor<2x6xf32>, %y: tensor<6xf32>) {
  // expected-error @below {{needs equal ranks of at least 2 and equal leading dimensions, but has 2x6 and 6}}
  weir.matmul %x, %y : tensor<2x6xf32>, tensor<6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{sums over 6 elements on the left, but 2 on the right}}
  weir.matmul %x, %x : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 2x2, but is 6x6}}
  weir.matmul %x, %x {transpose_rhs} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<6x6xf32>
  return
}

// -----

func.func @convolution_c1_strides(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{needs positive strides, and padding that is not negative}}
  weir.convolution %x, %w {strides = array<i64: 0, 1>, padding = array<i64: 0, 0>} : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c1_padding(%x: tensor<1x2x6x6xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error @below {{has padding that is larger than any tensor}}
  weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 9223372036854775807, 0>} : tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x2x4xf32>
  return
}

// -----

func.func @convolution_c1_count(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{needs two strides and two paddings}}
  weir.convolution %x, %w {strides = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c2(%x: tensor<1x4x5x5xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error @below {{has 4 channels in the image, but 2 in the weight}}
  weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x4x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_c3_result(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{the result should be 1x3x3x3, but is 1x2x5x5}}
  weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x2x5x5xf32>
  return
}

// -----

func.func @convolution_c3_empty(%x: tensor<1x2x2x2xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error @below {{has an image smaller than the weight}}
  weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<1x2x2x2xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @convolution_input_grad_c1(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{the cotangent should be 1x3x5x5, but is 1x3x3x3}}
  weir.convolution_input_grad %g, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : tensor<1x3x3x3xf32>, tensor<3x2x3x3xf32> -> tensor<1x2x5x5xf32>
  return
}

// -----

func.func @convolution_weight_grad_c1(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{the cotangent should be 1x3x5x5, but is 1x3x3x3}}
  weir.convolution_weight_grad %x, %g {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : tensor<1x2x5x5xf32>, tensor<1x3x3x3xf32> -> tensor<3x2x3x3xf32>
  return
}

// -----

func.func @max_pool_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs positive window sizes and strides}}
  weir.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 0, 2>} : tensor<2x6xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 1x3, but is 1x2}}
  weir.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<2x6xf32> -> tensor<1x2xf32>
  return
}

// -----

func.func @max_pool_grad_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{the cotangent should be 1x3, but is 2x6}}
  weir.max_pool_grad %x, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @normalize_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{the mean should be 2, but is 6}}
  weir.normalize %x {eps = 0.1 : f64} : tensor<2x6xf32> -> tensor<6xf32>
  return
}

// -----

func.func @normalize_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs an eps that is not negative}}
  weir.normalize %x {eps = -0.1 : f64} : tensor<2x6xf32> -> tensor<2xf32>
  return
}

// -----

func.func @normalize_grad_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{the mean should be 2, but is 2x6}}
  weir.normalize_grad %x, %x, %x, %x : tensor<2x6xf32>, tensor<2x6xf32>
  return
}

// -----

func.func @log_softmax_c1(%x: tensor<2x0xf32>) {
  // expected-error @below {{with 1 to 2^56 elements, but got 'tensor<2x0xf32>'}}
  weir.log_softmax %x : tensor<2x0xf32>
  return
}

// -----

func.func @softmax_cross_entropy_c1(%x: tensor<2x6xf32>, %l: tensor<6xi32>) {
  // expected-error @below {{the labels should be 2, but is 6}}
  weir.softmax_cross_entropy %x, %l : tensor<2x6xf32>, tensor<6xi32> -> tensor<2xf32>
  return
}

// -----

func.func @softmax_cross_entropy_grad_c1(%x: tensor<2x6xf32>, %l: tensor<2xi32>) {
  // expected-error @below {{the log_sum_exp should be 2, but is 2x6}}
  weir.softmax_cross_entropy_grad %x, %l, %x, %x : tensor<2x6xf32>, tensor<2xi32>, tensor<2x6xf32>
  return
}

// -----

func.func @attention_c1_shapes(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x5xf32>) {
  // expected-error @below {{needs queries [b, h, t, d] and keys [b, h, s, d], but has 1x2x3x4 and 1x2x3x5}}
  weir.attention %q, %k, %k {scale = 1.0 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32> -> tensor<1x2x3xf32>
  return
}

// -----

func.func @attention_c1_causal(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x2x4xf32>) {
  // expected-error @below {{is causal and has more queries (3) than keys (2)}}
  weir.attention %q, %k, %k {causal, scale = 1.0 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x2x4xf32> -> tensor<1x2x3xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<1x2x3x4xf32>) {
  // expected-error @below {{the log_sum_exp should be 1x2x3, but is 1x2x4}}
  weir.attention %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<1x2x4xf32>
  return
}

// -----

func.func @attention_grad_c1(%q: tensor<1x2x3x4xf32>, %l: tensor<1x2xf32>) {
  // expected-error @below {{the log_sum_exp should be 1x2x3, but is 1x2}}
  weir.attention_grad %q, %q, %q, %q, %l, %q {scale = 1.0 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2xf32>
  return
}

// -----

func.func @max_pool_grad_c2(%x: tensor<2x6xf32>, %g: tensor<1x3xf32>) {
  // expected-error @below {{needs a result of the input's type}}
  "weir.max_pool_grad"(%x, %g) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x6xf32>, tensor<1x3xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @convolution_c1_rank(%x: tensor<2x5x5xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error @below {{needs four dimensions, but has 2x5x5}}
  weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : tensor<2x5x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @random_c1(%s: tensor<i32>) {
  // expected-error @below {{C1: `word` is 1, 2 or 3, of a uniform draw, but is 4 of a uniform one}}
  weir.random uniform seed %s step %s round %s {key = 1 : i64, word = 4 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @random_c1_normal(%s: tensor<i32>) {
  // expected-error @below {{C1: `word` is 1, 2 or 3, of a uniform draw, but is 2 of a normal one}}
  weir.random normal seed %s step %s round %s {key = 1 : i64, word = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  return
}
