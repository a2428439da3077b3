// RUN: weir-opt --weir-verify-fused --verify-diagnostics %s

func.func @left_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is in no kernel after fusion}}
  %y = weir.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Kernels read the device's memory.
func.func @with_the_host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %away = weir.offload %x : tensor<4xf32>
  %back = weir.reload %away : tensor<4xf32>
  // expected-error @+1 {{reads what lies with the host, which only weir.reload may}}
  return %away : tensor<4xf32>
}

func.func @fetched(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is of what does not lie with the host}}
  %back = weir.reload %x : tensor<4xf32>
  return %back : tensor<4xf32>
}

// expected-error @+1 {{is no entry: expected a body of one block}}
func.func private @declared(tensor<4xf32>)
