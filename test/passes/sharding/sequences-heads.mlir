// RUN: weir-opt --weir-strategy="mesh=cp=2 context-parallel=all-to-all" --weir-propagate-layouts --split-input-file --verify-diagnostics %s

module {
func.func @step(%q: tensor<3x1x6x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh cp=2 shards the heads of attention, but there are 1 here: expected at least 2, one per rank, or --context-parallel gather}}
  %y, %sum = weir.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<3x1x6x4xf32>, tensor<3x1x6x4xf32> -> tensor<3x1x6xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2, 3>} : tensor<3x1x6x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
