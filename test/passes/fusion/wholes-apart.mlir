// RUN: weir-opt --weir-fuse %s | FileCheck %s

// With --deterministic a whole tensor is added up in a kernel of its own, in rows that follow from
// its shape.
module attributes {weir.strategy = #weir.strategy<"hosts=dp=1">} {
  // CHECK-LABEL: func @step
  // CHECK: weir.kernel row over #weir.rows<16 x 32>
  // CHECK: weir.kernel row over #weir.rows<1 x 512>
  func.func @step(%x: tensor<16x32xf32>) -> (tensor<16xf32>, tensor<f32>) {
    %rows = weir.reduce sum %x {axes = array<i64: 1>} : tensor<16x32xf32> -> tensor<16xf32>
    %all = weir.reduce sum %x {axes = array<i64: 0, 1>} : tensor<16x32xf32> -> tensor<f32>
    return %rows, %all : tensor<16xf32>, tensor<f32>
  }

  // What few ranks have of one number is added up one after the other, as they are of many.
  // CHECK-LABEL: func @few
  // CHECK: weir.kernel row over #weir.rows<8 x 1>
  func.func @few(%x: tensor<8xf32>) -> tensor<f32> {
    %sum = weir.reduce sum %x {axes = array<i64: 0>} : tensor<8xf32> -> tensor<f32>
    return %sum : tensor<f32>
  }
}
