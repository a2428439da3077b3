// RUN: weir-opt --weir-verify-sizes=target=cuda:sm_90 --split-input-file --verify-diagnostics %s
// RUN: weir-opt --weir-verify-sizes --split-input-file %s

func.func @fits(%x: tensor<f32>) {
  %0 = weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<2146435071xf32>
  return
}

// -----

// Only the first is told, with the line of the model that made it.
func.func @too_large(%x: tensor<f32>) {
  // expected-error @below {{a tensor of 65536x32768 elements is too large for cuda:sm_90, whose kernels index at most 2146435071 elements: shard it over more ranks (--mesh), or make it smaller (--set, --microbatches)}}
  %0 = weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<65536x32768xf32>
  %1 = weir.exp %0 : tensor<65536x32768xf32>
  return
}

// -----

// expected-error @below {{a tensor of 4294967296 elements is too large}}
func.func @argument(%x: tensor<4294967296xf32>) {
  return
}

// -----

module attributes {weir.mesh = #weir.mesh<dp = 2>, weir.rank = 0 : i64} {
  func.func @of_a_rank(%x: tensor<f32>) {
    // expected-error @below {{a tensor of 2147483648 elements on one rank is too large for cuda:sm_90}}
    %0 = weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<2147483648xf32>
    return
  }
}
