// RUN: weir-check %s

// A copy with the host, and back, has the value; the original stays.
func.func @there_and_back() {
  %x = check.input dense<[[1.0, -2.0, 3.5], [0.0, 1.0e-3, 7.0]]> : tensor<2x3xf32>
  %away = weir.offload %x : tensor<2x3xf32>
  %back = weir.reload %away : tensor<2x3xf32>
  %twice = weir.add %back, %x : tensor<2x3xf32>
  check.expect %back, dense<[[1.0, -2.0, 3.5], [0.0, 1.0e-3, 7.0]]> : tensor<2x3xf32> exactly
  check.expect %twice, dense<[[2.0, -4.0, 7.0], [0.0, 2.0e-3, 14.0]]> : tensor<2x3xf32> exactly
  return
}
