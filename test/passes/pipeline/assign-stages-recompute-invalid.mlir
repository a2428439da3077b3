// RUN: weir-opt --weir-assign-stages=mesh=pp=2 --verify-diagnostics %s

module attributes {weir.recompute = ["h.0"]} {
  // expected-error @below {{--mesh pp=2: stages keep what their gradients read, and the model's plan says `recompute`, which does not go with them yet: leave one of the two out}}
  func.func @step(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}
