// RUN: weir-check %s

func.func @scalars_and_tensors() {
  %a = check.input dense<1.0> : tensor<f32>
  %b = check.input dense<[0.0, -3.4e38, 1.0e-45]> : tensor<3xf32>
  %f = weir.all_finite %a, %b : tensor<f32>, tensor<3xf32>
  check.expect %f, dense<true> : tensor<i1>
  return
}

func.func @one_infinite_element_of_many() {
  %a = check.input dense<1.0> : tensor<f32>
  %b = check.input dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
      16.0, 0xFF800000]> : tensor<17xf32>
  %f = weir.all_finite %a, %b : tensor<f32>, tensor<17xf32>
  check.expect %f, dense<false> : tensor<i1>
  return
}

func.func @a_scalar_that_is_no_number() {
  %a = check.input dense<0x7FC00000> : tensor<f32>
  %b = check.input dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %f = weir.all_finite %a, %b : tensor<f32>, tensor<2x1xf32>
  check.expect %f, dense<false> : tensor<i1>
  return
}

// The sum of what is finite may not be: elements are counted, not added.
func.func @elements_whose_sum_is_infinite() {
  %b = check.input dense<3.0e38> : tensor<17xf32>
  %f = weir.all_finite %b : tensor<17xf32>
  check.expect %f, dense<true> : tensor<i1>
  return
}

func.func @nothing() {
  %f = weir.all_finite
  check.expect %f, dense<true> : tensor<i1>
  return
}
