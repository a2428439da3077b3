// RUN: weir-opt --weir-strategy="schedule=1f1b" --weir-split-stages --split-input-file %s | FileCheck %s

// Rank 0 of two stages: it sends what the other reads, and has no part of the other's parameter.
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 0 : i64} {
  // CHECK: weir.variable parameter @w0 {weir.sharding = #weir.sharding<[8] on pp = 0>} : tensor<8xf32>
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<8xf32>
  // CHECK: weir.variable parameter @w1 {weir.sharding = #weir.sharding<[8] on pp = 1>} : tensor<8xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<8xf32>
  // CHECK-LABEL: func @step
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: %[[W0:.*]] = weir.read @w0
    %w0 = weir.read @w0 : tensor<8xf32>
    // CHECK-NOT: weir.read @w1
    %w1 = weir.read @w1 : tensor<8xf32>
    // CHECK: %[[H:.*]] = weir.mul %{{.*}}, %[[W0]] : tensor<8xf32>
    %h = weir.mul %x, %w0 {weir.stage = 0 : i64} : tensor<8xf32>
    // CHECK: weir.send %[[H]] over "pp" peer 1 number 1
    %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<8xf32>
    // CHECK-NOT: weir.mul
    %y = weir.mul %there, %w1 {weir.stage = 1 : i64} : tensor<8xf32>
    // CHECK: %[[Y:.*]] = weir.receive over "pp" peer 1 number 2
    %all = weir.stage_transfer %y from 1 to -1 number 2 : tensor<8xf32>
    // CHECK: return %[[Y]]
    return %all : tensor<8xf32>
  }
}

// -----

// Gradients are a section of their own; what they read of the forward computation is kept.
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @sections
  func.func @sections(%x: tensor<8xf32>) -> tensor<4xf32> {
    %w1 = weir.read @w1 : tensor<4xf32>
    // CHECK: weir.microbatches 2
    // CHECK-SAME: weir.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1>, weir.section = 0 : i64
    // CHECK: %[[GOT:.*]] = weir.receive over "pp" peer 0 number 1
    // CHECK: weir.save %[[GOT]] number 1
    // CHECK: weir.microbatches 2
    // CHECK-SAME: weir.section = 1 : i64
    // CHECK: %[[SAVED:.*]] = weir.saved number 1
    // CHECK: weir.mul %[[SAVED]], %[[SAVED]]
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<8xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
      %h = weir.exp %part {weir.stage = 0 : i64} : tensor<4xf32>
      %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<4xf32>
      %d = weir.mul %there, %there {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc("the gradient"("m.weir":1:1))
      weir.yield %d : tensor<4xf32>
    }
    %all = weir.stage_transfer %g from 1 to -1 number 2 : tensor<4xf32>
    return %all : tensor<4xf32>
  }
}
