// RUN: weir-opt --weir-verify-fused --verify-diagnostics %s

func.func @left_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is in no kernel after fusion}}
  %y = weir.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
