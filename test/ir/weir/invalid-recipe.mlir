// RUN: weir-opt %s --split-input-file --verify-diagnostics

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
