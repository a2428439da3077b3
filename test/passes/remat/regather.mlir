// RUN: weir-opt --weir-rematerialize --split-input-file %s | FileCheck %s
// RUN: sed 's/, weir.equal_shards}/}/' %s | weir-opt --weir-rematerialize --split-input-file | FileCheck %s --check-prefix=UNEQUAL

#outside = loc("m.weir":1:1)
#inside = loc("h.0"("m.weir":2:1))
#gradient = loc("the gradient"("h.0"("m.weir":2:1)))

// The backward pass gathers the parameter again. The recomputed kernel reads the second one, so the first is not kept until
// then. If shards have different sizes, ranks run different programs, and collectives do not move.
// CHECK-LABEL: func @step
// CHECK: %[[ROWS:.*]] = weir.kernel map
// CHECK: %[[FIRST:.*]] = weir.all_gather %[[ROWS]]
// CHECK: weir.kernel map(%[[FIRST]])
// CHECK: %[[D:.*]] = weir.kernel row
// CHECK: %[[SECOND:.*]] = weir.all_gather %[[ROWS]] {{.*}} again
// CHECK-NEXT: %[[A:.*]] = weir.kernel map(%[[SECOND]]) {weir.again
// CHECK: %[[E:.*]] = weir.kernel row {{.*}}(%[[D]], %[[A]])
// CHECK: weir.kernel row {{.*}}(%[[E]], %[[SECOND]])
// UNEQUAL-LABEL: func @step
// UNEQUAL: %[[FIRST:.*]] = weir.all_gather
// UNEQUAL: weir.kernel map(%[[FIRST]]) {weir.again
// UNEQUAL: weir.all_gather {{.*}} again
module attributes {weir.recompute = ["h.0"], weir.equal_shards} {
weir.variable parameter @w : tensor<32x64xf32>
func.func @step(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %w = weir.read @w : tensor<32x64xf32>
  %rows = weir.kernel map(%w) : (tensor<32x64xf32>) -> tensor<32x64xf32> {
  ^bb0(%in: tensor<32x64xf32>):
    %0 = weir.tanh %in : tensor<32x64xf32> loc(#outside)
    weir.yield %0 : tensor<32x64xf32>
  }
  %first = weir.all_gather %rows over "dp" rows [32, 32] {weir.number = 1 : i64} : tensor<32x64xf32> -> tensor<64x64xf32>
  %a = weir.kernel map(%first) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.exp %in : tensor<64x64xf32> loc(#inside)
    weir.yield %0 : tensor<64x64xf32>
  }
  %d = weir.kernel row over #weir.rows<64 x 64>(%a) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %0 : tensor<64xf32>
  }
  %e = weir.kernel row over #weir.rows<64 x 64>(%d, %a) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#gradient)
    %1 = weir.mul %0, %kept : tensor<64x64xf32> loc(#gradient)
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#gradient)
    weir.yield %2 : tensor<64xf32>
  }
  %second = weir.all_gather %rows over "dp" rows [32, 32] again {weir.number = 2 : i64} : tensor<32x64xf32> -> tensor<64x64xf32>
  %f = weir.kernel row over #weir.rows<64 x 64>(%e, %second) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#gradient)
    %1 = weir.mul %0, %kept : tensor<64x64xf32> loc(#gradient)
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#gradient)
    weir.yield %2 : tensor<64xf32>
  }
  return %f : tensor<64xf32>
}
}
