// Sections of the same microbatches take turns: what one of them waits for, both do. So no kernel
// may compute what is sent ahead of one section together with what reads the other's result: the
// rank that receives it would wait for this one, and this one for what that rank sends.
//
// RUN: weir-opt %s --weir-fuse | FileCheck %s

module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @p : tensor<6x16xf32>

  // CHECK-LABEL: func.func @sent_ahead
  // CHECK:       %[[P:.*]] = weir.read @p
  // CHECK:       %[[SUMS:.*]] = weir.kernel row over #weir.rows<6 x 16>(%[[P]])
  // CHECK:       weir.send %[[SUMS]] over "pp" peer 0 number 1
  // CHECK:       weir.microbatches 3
  // CHECK:         weir.receive over "pp" peer 0 number 2
  // CHECK:       %[[OTHER:.*]] = weir.microbatches 3
  // CHECK:       weir.kernel row over #weir.rows<6 x 16>(%[[P]], %[[OTHER]])
  func.func @sent_ahead() -> (tensor<f32>, tensor<6xf32>) {
    %p = weir.read @p : tensor<6x16xf32>
    %zero = weir.constant 0.0 : f32 -> tensor<f32>
    %zeros = weir.constant 0.0 : f32 -> tensor<6x16xf32>
    %sums = weir.reduce sum %p {axes = array<i64: 1>} : tensor<6x16xf32> -> tensor<6xf32>
    weir.send %sums over "pp" peer 0 number 1 : tensor<6xf32>
    %parts = weir.iota {dimension = 0 : i64} -> tensor<3xi32>
    %one = weir.microbatches 3 sliced(%parts) carried(%zero) {weir.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2>, weir.section = 0 : i64}
        : (tensor<3xi32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%index: tensor<i32>, %part: tensor<1xi32>, %carried: tensor<f32>):
      %received = weir.receive over "pp" peer 0 number 2 : tensor<f32>
      %next = weir.add %carried, %received : tensor<f32>
      weir.yield %next : tensor<f32>
    }
    %other = weir.microbatches 3 sliced(%parts) carried(%zeros) {weir.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2>, weir.section = 1 : i64}
        : (tensor<3xi32>, tensor<6x16xf32>) -> tensor<6x16xf32> {
    ^bb0(%index: tensor<i32>, %part: tensor<1xi32>, %carried: tensor<6x16xf32>):
      %next = weir.add %carried, %p : tensor<6x16xf32>
      weir.yield %next : tensor<6x16xf32>
    }
    %both = weir.mul %p, %other : tensor<6x16xf32>
    %products = weir.reduce sum %both {axes = array<i64: 1>} : tensor<6x16xf32> -> tensor<6xf32>
    return %one, %products : tensor<f32>, tensor<6xf32>
  }
}
