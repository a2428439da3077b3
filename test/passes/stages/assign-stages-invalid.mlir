// RUN: weir-opt --weir-strategy="mesh=pp=4" --weir-assign-stages --verify-diagnostics %s

weir.variable parameter @w : tensor<f32>

// expected-error @below {{--mesh pp=4: the model has only 2 ops in sequence, too few for 4 stages; expected at most one stage per op}}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  %w = weir.read @w : tensor<f32>
  %a = weir.mul %x, %w : tensor<f32>
  %b = weir.mul %a, %w : tensor<f32>
  %g = weir.gradient %b wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
