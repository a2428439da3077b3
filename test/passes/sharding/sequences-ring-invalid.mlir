// RUN: weir-opt --weir-strategy="mesh=cp=2 context-parallel=ring" --weir-propagate-layouts --split-input-file --verify-diagnostics %s

// Ranks pass on as many keys each.
module {
func.func @step(%q: tensor<3x1x5x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh cp=2 shards the keys of attention equally over a ring of ranks, but there are 5 here: expected a multiple of 2, or --context-parallel gather}}
  %y, %sum = weir.attention %q, %q, %q {scale = 0.5 : f64} : tensor<3x1x5x4xf32>, tensor<3x1x5x4xf32> -> tensor<3x1x5xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2, 3>} : tensor<3x1x5x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

// What is causal cannot be cut into stripes either: gathering is no way out.
module {
func.func @step(%q: tensor<3x2x5x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{but there are 5 here: expected a multiple of 2, or --context-parallel all-to-all with at least one head per rank}}
  %y, %sum = weir.attention %q, %q, %q {scale = 0.5 : f64} : tensor<3x2x5x4xf32>, tensor<3x2x5x4xf32> -> tensor<3x2x5xf32>
  %z, %sums = weir.attention %y, %q, %q {causal, scale = 0.5 : f64} : tensor<3x2x5x4xf32>, tensor<3x2x5x4xf32> -> tensor<3x2x5xf32>
  %loss = weir.reduce sum %z {axes = array<i64: 0, 1, 2, 3>} : tensor<3x2x5x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
