// RUN: weir-check %s

func.func @truth_table() {
  %a = check.input dense<[false, false, true, true]> : tensor<4xi1>
  %b = check.input dense<[false, true, false, true]> : tensor<4xi1>
  %r = weir.and %a, %b : tensor<4xi1>
  check.expect %r, dense<[false, false, false, true]> : tensor<4xi1>
  return
}

func.func @one_element() {
  %a = check.input dense<true> : tensor<i1>
  %b = check.input dense<false> : tensor<i1>
  %r = weir.and %a, %b : tensor<i1>
  check.expect %r, dense<false> : tensor<i1>
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[true, true, false, true, false, true, true, false, true, false, false,
      false, true, false, false, false, false]> : tensor<17xi1>
  %b = check.input dense<[false, true, true, false, true, false, true, false, false, true, false,
      true, false, true, true, false, true]> : tensor<17xi1>
  %r = weir.and %a, %b : tensor<17xi1>
  check.expect %r, dense<[false, true, false, false, false, false, true, false, false, false, false,
      false, false, false, false, false, false]> : tensor<17xi1>
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[true, true, false, true, false, true, true, false],
      [true, false, false, false, true, false, false, false],
      [false, false, false, true, false, true, true, false],
      [false, false, false, true, false, true, true, true],
      [false, false, true, false, true, true, true, false]]> : tensor<5x8xi1>
  %b = check.input dense<[[false, true, true, false, true, false, true, false],
      [false, true, false, true, false, true, true, false],
      [true, true, false, false, true, false, true, true],
      [true, false, true, true, true, true, true, true],
      [false, false, false, false, true, true, true, false]]> : tensor<5x8xi1>
  %r = weir.and %a, %b : tensor<5x8xi1>
  check.expect %r, dense<[[false, true, false, false, false, false, true, false],
      [false, false, false, false, false, false, false, false],
      [false, false, false, false, false, false, true, false],
      [false, false, false, true, false, true, true, true],
      [false, false, false, false, true, true, true, false]]> : tensor<5x8xi1>
  return
}

// What the compiler knows of an operand changes nothing.
func.func @with_constants() {
  %a = check.input dense<[true, false]> : tensor<2xi1>
  %t = weir.constant true -> tensor<2xi1>
  %f = weir.constant false -> tensor<2xi1>
  %x = weir.and %a, %t : tensor<2xi1>
  %y = weir.and %a, %f : tensor<2xi1>
  %z = weir.and %a, %a : tensor<2xi1>
  check.expect %x, dense<[true, false]> : tensor<2xi1>
  check.expect %y, dense<[false, false]> : tensor<2xi1>
  check.expect %z, dense<[true, false]> : tensor<2xi1>
  return
}
