// RUN: weir-opt --weir-partition --weir-bucket-collectives --weir-expand-collectives --split-input-file --verify-diagnostics %s

module attributes {weir.mesh = #weir.mesh<cp = 2>} {
func.func @predict(%q: tensor<3x1x6x4xf32>) -> tensor<3x1x6x4xf32> {
  // expected-error @below {{'weir.attention' op is causal, and its queries are cut into stripes alone: expected one place of the innermost piece for each rank}}
  %y, %sum = weir.attention %q, %q, %q {causal, scale = 0.5 : f64, weir.factor_sharding = #weir.sharding<[3, 1, 6@cp, 4, 6]>} : tensor<3x1x6x4xf32>, tensor<3x1x6x4xf32> -> tensor<3x1x6xf32>
  return %y : tensor<3x1x6x4xf32>
}
}
