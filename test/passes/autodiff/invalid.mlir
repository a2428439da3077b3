// RUN: weir-opt --weir-autodiff --split-input-file --verify-diagnostics %s

// Every op without a gradient is reported, not only the first.
func.func @no_gradient(%x: tensor<2x3xf32>, %m: tensor<2xf32>, %l: tensor<2xi32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'weir.softmax_cross_entropy_grad' op has no gradient, and the loss depends on a parameter through it}}
  %a = weir.softmax_cross_entropy_grad %x, %l, %m, %m : tensor<2x3xf32>, tensor<2xi32>, tensor<2xf32>
  // expected-error@+1 {{'weir.normalize_grad' op has no gradient, and the loss depends on a parameter through it}}
  %b = weir.normalize_grad %a, %m, %m, %a : tensor<2x3xf32>, tensor<2xf32>
  %loss = weir.reduce sum %b {axes = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}

// -----

// What stop_gradient cuts off needs no gradient.
func.func @cut_off(%x: tensor<2x3xf32>, %m: tensor<2xf32>, %l: tensor<2xi32>) -> tensor<2x3xf32> {
  %a = weir.softmax_cross_entropy_grad %x, %l, %m, %m : tensor<2x3xf32>, tensor<2xi32>, tensor<2xf32>
  %s = weir.stop_gradient %a : tensor<2x3xf32>
  %loss = weir.reduce sum %s {axes = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}

// -----

func.func @log_sum_exp(%q: tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32> {
  // expected-error@+1 {{'weir.attention' op has no gradient through its log_sum_exp}}
  %o, %s = weir.attention %q, %q, %q {scale = 1.0} : tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32> -> tensor<1x1x2xf32>
  %loss = weir.reduce sum %s {axes = array<i64: 0, 1, 2>} : tensor<1x1x2xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt (%q) : (tensor<f32>, tensor<1x1x2x3xf32>) -> tensor<1x1x2x3xf32>
  return %g : tensor<1x1x2x3xf32>
}

// -----

// A region between a source and the loss: the gradient belongs inside it.
func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'weir.microbatches' op has no gradient, and the loss depends on a parameter through it}}
  %loss = weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %s = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    weir.yield %s : tensor<f32>
  }
  %g = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
