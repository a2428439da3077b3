// RUN: weir-opt --weir-verify-recipe --split-input-file --verify-diagnostics %s

func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'weir.loss' op is left after the recipe's passes}}
  %l = weir.loss [1.0] sums(%x) counts(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @clip(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'weir.clip' op is left after the recipe's passes}}
  %n = weir.clip (%x) : (tensor<f32>) -> tensor<f32>
  return %n : tensor<f32>
}

// -----

weir.variable parameter @w : tensor<f32>
func.func @skip(%x: tensor<f32>) {
  // expected-error@+1 {{'weir.all_finite' op is left after the recipe's passes}}
  %f = weir.all_finite %x : tensor<f32>
  // expected-error@+1 {{'weir.write' op has a condition after the recipe's passes}}
  weir.write @w, %x if %f : tensor<f32>
  return
}

// -----

weir.variable parameter @w : tensor<f32>
func.func @none(%x: tensor<f32>) {
  weir.write @w, %x : tensor<f32>
  return
}
