// RUN: weir-opt --weir-lower-to-plan --split-input-file --verify-diagnostics %s

// expected-error@+1 {{takes or returns 'tensor<?xf32>': expected a static shape}}
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected at most 2147483647 elements}}
func.func @huge(%a: tensor<4294967296x4294967296xf32>) {
  return
}
