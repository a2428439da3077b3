// RUN: weir-check %s

func.func @one_element() {
  %c = check.input dense<false> : tensor<i1>
  %a = check.input dense<1.5> : tensor<f32>
  %b = check.input dense<0x7FC00000> : tensor<f32>
  %r = weir.select %c, %a, %b : tensor<i1>, tensor<f32>
  check.expect %r, dense<0x7FC00000> : tensor<f32> exactly
  return
}

func.func @seventeen_elements() {
  %c = check.input dense<[false, true, false, true, false, true, false, false, false, true, true,
      true, false, false, true, false, true]> : tensor<17xi1>
  %a = check.input dense<[-1.75, 2.25, -1.0, 0.75, -0.25, 1.75, -1.25, -3.5, -1.75, 1.0, 1.0, 4.0,
      -2.25, -0.75, 3.75, -3.25, 1.75]> : tensor<17xf32>
  %b = check.input dense<[2.25, -1.0, 1.25, -2.5, 3.75, -3.5, -2.0, 1.25, -4.0, -0.25, -3.0, 4.0,
      -1.5, 3.0, -1.5, 2.75, -3.75]> : tensor<17xf32>
  %r = weir.select %c, %a, %b : tensor<17xi1>, tensor<17xf32>
  check.expect %r, dense<[2.25, 2.25, 1.25, 0.75, 3.75, 1.75, -2.0, 1.25, -4.0, 1.0, 1.0, 4.0, -1.5,
      3.0, 3.75, 2.75, 1.75]> : tensor<17xf32> exactly
  return
}

func.func @every_element_type() {
  %c = check.input dense<[true, false, true, false]> : tensor<4xi1>
  %i = check.input dense<[-2147483648, 1, 2, 3]> : tensor<4xi32>
  %j = check.input dense<[4, 2147483647, 6, 7]> : tensor<4xi32>
  %u = check.input dense<[0, 1, 255, 3]> : tensor<4xui8>
  %v = check.input dense<[4, 200, 6, 7]> : tensor<4xui8>
  %p = check.input dense<[true, true, false, false]> : tensor<4xi1>
  %q = check.input dense<[true, false, true, false]> : tensor<4xi1>
  %r = weir.select %c, %i, %j : tensor<4xi1>, tensor<4xi32>
  %s = weir.select %c, %u, %v : tensor<4xi1>, tensor<4xui8>
  %t = weir.select %c, %p, %q : tensor<4xi1>, tensor<4xi1>
  check.expect %r, dense<[-2147483648, 2147483647, 2, 7]> : tensor<4xi32>
  check.expect %s, dense<[0, 200, 255, 7]> : tensor<4xui8>
  check.expect %t, dense<[true, false, false, false]> : tensor<4xi1>
  return
}

func.func @what_is_not_chosen_does_not_matter() {
  %c = check.input dense<[true, false, true, false]> : tensor<4xi1>
  %a = check.input dense<[1.0, 0x7FC00000, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  %b = check.input dense<[0x7FC00000, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %r = weir.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
  check.expect %r, dense<[1.0, 2.0, 0x7F800000, 0.0]> : tensor<4xf32> exactly
  return
}

func.func @known_conditions() {
  %a = check.input dense<[1.0, 2.0]> : tensor<2xf32>
  %b = check.input dense<[3.0, 4.0]> : tensor<2xf32>
  %c = check.input dense<[true, false]> : tensor<2xi1>
  %t = weir.constant true -> tensor<2xi1>
  %f = weir.constant false -> tensor<2xi1>
  %x = weir.select %t, %a, %b : tensor<2xi1>, tensor<2xf32>
  %y = weir.select %f, %a, %b : tensor<2xi1>, tensor<2xf32>
  %z = weir.select %c, %a, %a : tensor<2xi1>, tensor<2xf32>
  check.expect %x, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect %y, dense<[3.0, 4.0]> : tensor<2xf32>
  check.expect %z, dense<[1.0, 2.0]> : tensor<2xf32>
  return
}
