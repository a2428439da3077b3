// RUN: weir-opt --weir-fuse %s | FileCheck %s

// Dimensions of one place are no rows: what is added up along the last dimension has the same rows
// whether a sum over them is in its kernel or not.
// CHECK-LABEL: func @beside
// CHECK: weir.kernel row over #weir.rows<1 x 12>
func.func @beside(%x: tensor<1x1x12xf32>) -> (tensor<1x1xf32>, tensor<12xf32>) {
  %row = weir.reduce sum %x {axes = array<i64: 2>} : tensor<1x1x12xf32> -> tensor<1x1xf32>
  %column = weir.reduce sum %x {axes = array<i64: 0, 1>} : tensor<1x1x12xf32> -> tensor<12xf32>
  return %row, %column : tensor<1x1xf32>, tensor<12xf32>
}
