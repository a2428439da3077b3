// RUN: weir-opt --weir-expand-collectives --verify-diagnostics %s

module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  func.func @no_such_axis(%x: tensor<2xf32>) -> tensor<2xf32> {
    // expected-error @below {{is over "tp", and the mesh is dp=2}}
    %all = weir.all_reduce %x over ["dp", "tp"] : tensor<2xf32> -> tensor<2xf32>
    return %all : tensor<2xf32>
  }
}
