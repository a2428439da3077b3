// RUN: weir-opt --weir-verify-differentiated --split-input-file --verify-diagnostics %s

func.func @left(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'weir.gradient' op is left after autodiff}}
  %g = weir.gradient %x wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @none(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
