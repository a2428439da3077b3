// RUN: weir-opt --weir-strategy="mesh=pp=2 schedule=interleaved" --weir-assign-stages --verify-diagnostics %s

// expected-error @below {{--schedule interleaved gives each rank of --mesh pp=2 several stages, for several microbatches, and a step is one: give --microbatches, as many as pp has ranks or a multiple of them}}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
