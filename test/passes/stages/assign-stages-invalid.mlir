// RUN: weir-opt --weir-strategy="mesh=pp=4" --weir-assign-stages --verify-diagnostics %s

weir.variable parameter @w : tensor<f32>

// expected-error @below {{--mesh pp=4: the model computes 2 ops one after the other, too few for 4 stages; expected at most one stage for each op}}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  %w = weir.read @w : tensor<f32>
  %a = weir.mul %x, %w : tensor<f32>
  %b = weir.mul %a, %w : tensor<f32>
  %g = weir.gradient %b wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
