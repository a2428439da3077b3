// RUN: weir-opt --weir-strategy="mesh=pp=2 schedule=interleaved" --weir-assign-stages --verify-diagnostics %s

// expected-error @below {{--schedule interleaved runs several stages on each rank of --mesh pp=2 and needs several microbatches, but a step has only one: add --microbatches N, where N is a multiple of 2}}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
