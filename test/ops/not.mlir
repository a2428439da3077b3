// RUN: weir-check %s

func.func @one_element() {
  %a = check.input dense<true> : tensor<i1>
  %r = weir.not %a : tensor<i1>
  check.expect %r, dense<false> : tensor<i1>
  return
}

func.func @seventeen_elements() {
  %a = check.input dense<[true, false, false, false, false, true, true, true, false, false, false,
      false, true, false, false, false, true]> : tensor<17xi1>
  %r = weir.not %a : tensor<17xi1>
  check.expect %r, dense<[false, true, true, true, true, false, false, false, true, true, true,
      true, false, true, true, true, false]> : tensor<17xi1>
  return
}

func.func @forty_elements() {
  %a = check.input dense<[[true, true, true, true, true, true, true, false],
      [false, true, false, false, true, true, true, false],
      [true, true, false, true, false, true, false, false],
      [true, false, false, true, true, true, true, false],
      [true, true, true, true, true, false, false, true]]> : tensor<5x8xi1>
  %r = weir.not %a : tensor<5x8xi1>
  check.expect %r, dense<[[false, false, false, false, false, false, false, true],
      [true, false, true, true, false, false, false, true],
      [false, false, true, false, true, false, true, true],
      [false, true, true, false, false, false, false, true],
      [false, false, false, false, false, true, true, false]]> : tensor<5x8xi1>
  return
}

func.func @twice() {
  %a = check.input dense<[true, false, true]> : tensor<3xi1>
  %n = weir.not %a : tensor<3xi1>
  %r = weir.not %n : tensor<3xi1>
  check.expect %r, dense<[true, false, true]> : tensor<3xi1>
  return
}
