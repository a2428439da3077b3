// RUN: weir-check %s

// Of norm 5: each is multiplied by 1 / 5.000001.
func.func @above_the_limit() {
  %a = check.input dense<[3.0, 0.0]> : tensor<2xf32>
  %b = check.input dense<4.0> : tensor<f32>
  %limit = weir.constant 1.0 : f32 -> tensor<f32>
  %norm, %c, %d = weir.clip (%a, %b) to %limit
    : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>, tensor<f32>)
  check.expect %norm, dense<5.0> : tensor<f32>
  check.expect %c, dense<[0.59999988, 0.0]> : tensor<2xf32>
  check.expect %d, dense<0.79999984> : tensor<f32>
  return
}

func.func @below_the_limit() {
  %a = check.input dense<[[3.0, 0.0, 4.0]]> : tensor<1x3xf32>
  %limit = check.input dense<5.5> : tensor<f32>
  %norm, %c = weir.clip (%a) to %limit : (tensor<1x3xf32>, tensor<f32>) -> (tensor<f32>, tensor<1x3xf32>)
  check.expect %norm, dense<5.0> : tensor<f32>
  check.expect %c, dense<[[3.0, 0.0, 4.0]]> : tensor<1x3xf32> exactly
  return
}

func.func @the_norm_alone() {
  %a = check.input dense<2.0> : tensor<17xf32>
  %b = check.input dense<[4.0, -4.0]> : tensor<2xf32>
  %norm = weir.clip (%a, %b) : (tensor<17xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect %norm, dense<10.0> : tensor<f32>
  return
}

func.func @of_zeros() {
  %a = check.input dense<0.0> : tensor<3xf32>
  %limit = weir.constant 1.0 : f32 -> tensor<f32>
  %norm, %c = weir.clip (%a) to %limit : (tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  check.expect %norm, dense<0.0> : tensor<f32> exactly
  check.expect %c, dense<0.0> : tensor<3xf32> exactly
  return
}

// What is no number makes all of it none: the step is skipped for its norm.
func.func @what_is_not_finite() {
  %a = check.input dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %b = check.input dense<1.0> : tensor<f32>
  %limit = weir.constant 1.0 : f32 -> tensor<f32>
  %norm, %c, %d = weir.clip (%a, %b) to %limit
    : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>, tensor<f32>)
  check.expect %norm, dense<0x7FC00000> : tensor<f32>
  check.expect %c, dense<0x7FC00000> : tensor<2xf32>
  check.expect %d, dense<0x7FC00000> : tensor<f32>
  return
}
