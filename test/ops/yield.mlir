// RUN: weir-check %s

// The order of what is yielded is that of the results, whatever the order in the body.
func.func @in_another_order() {
  %x = check.input dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d, %n = weir.kernel map(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: tensor<3xf32>):
    %negated = weir.neg %a : tensor<3xf32>
    %doubled = weir.add %a, %a : tensor<3xf32>
    weir.yield %doubled, %negated : tensor<3xf32>, tensor<3xf32>
  }
  check.expect %d, dense<[2.0, 4.0, 6.0]> : tensor<3xf32> exactly
  check.expect %n, dense<[-1.0, -2.0, -3.0]> : tensor<3xf32> exactly
  return
}

// A carried value may be yielded as it came, and a sliced one be a sum.
func.func @what_came_in() {
  %x = check.input dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %c = check.input dense<[7, 8]> : tensor<2xi32>
  %sum, %last = weir.microbatches 3 sliced(%x) carried(%c) : (tensor<3x2xi32>, tensor<2xi32>) -> (tensor<1x2xi32>, tensor<2xi32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<1x2xi32>, %carried: tensor<2xi32>):
    weir.yield %part, %carried : tensor<1x2xi32>, tensor<2xi32>
  }
  check.expect %sum, dense<[[9, 12]]> : tensor<1x2xi32>
  check.expect %last, dense<[7, 8]> : tensor<2xi32>
  return
}
