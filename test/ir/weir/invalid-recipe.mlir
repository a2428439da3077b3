// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @loss_c1(%s: tensor<f32>, %n: tensor<f32>) {
  // expected-error @below {{needs a weight and a count for each sum, but has 1 weights, 2 sums and 1 counts}}
  weir.loss [1.0] sums(%s, %s) counts(%n) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @loss_c1_none() {
  // expected-error @below {{needs a weight and a count for each sum, but has 0 weights, 0 sums and 0 counts}}
  weir.loss [] sums() counts() : () -> tensor<f32>
  return
}

// -----

func.func @clip_c1(%g: tensor<4xf32>, %limit: tensor<f32>) {
  // expected-error @below {{needs one result of equal type for each gradient}}
  weir.clip (%g) to %limit : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  return
}

// -----

func.func @clip_c1_without_a_limit(%g: tensor<4xf32>) {
  // expected-error @below {{clips nothing without a limit}}
  weir.clip (%g) : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return
}
