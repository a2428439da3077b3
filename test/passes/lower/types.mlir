// RUN: weir-opt --weir-lower-to-plan --split-input-file --verify-diagnostics %s

// expected-error@+1 {{takes or returns 'tensor<?xf32>': expected a static shape}}
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected from 1 to 2^56 elements}}
func.func @huge(%a: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

func.func @computes(%a: tensor<4xf32> {weir.input = "a"}) -> (tensor<4xf32> {weir.output = "y", weir.part = "tensor"}) {
  %0 = weir.kernel map(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    // expected-error@+1 {{'weir.exp' op is to compute in 'bf16': processors work in f32 alone}}
    %1 = weir.exp %x {compute = bf16} : tensor<4xf32>
    weir.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @accumulates(%a: tensor<4x4xf32> {weir.input = "a"}) -> (tensor<4x4xf32> {weir.output = "y", weir.part = "tensor"}) {
  %0 = weir.kernel product over #weir.epilogue<>(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%x: tensor<4x4xf32>):
    // expected-error@+1 {{'weir.matmul' op is to accumulate in 'f16': processors work in f32 alone}}
    %1 = weir.matmul %x, %x {accumulate = f16} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    weir.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
