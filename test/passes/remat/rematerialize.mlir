// RUN: weir-opt --weir-strategy="memory=41768" --weir-rematerialize --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: weir-opt --weir-rematerialize %s | FileCheck %s --check-prefix=NONE
// RUN: not weir-opt --weir-strategy="memory=9768" --weir-rematerialize %s 2>&1 | FileCheck %s --check-prefix=REFUSED

// What the last kernel reads is kept from the first on; in less memory it is computed again, from what is there anyway.
// CHECK-LABEL: func @kept
// CHECK: %[[A:.*]] = weir.kernel map(%[[X:.*]]) :
// CHECK: %[[B:.*]] = weir.kernel map(%[[A]])
// CHECK: %[[C:.*]] = weir.kernel map(%[[B]])
// CHECK: %[[D:.*]] = weir.kernel row {{.*}}(%[[C]])
// CHECK: %[[AGAIN:.*]] = weir.kernel map(%[[X]]) {weir.again}
// CHECK: weir.kernel row {{.*}}(%[[D]], %[[AGAIN]])
// NONE-LABEL: func @kept
// NONE-COUNT-5: weir.kernel
// NONE-NOT: weir.kernel
// REFUSED: error: @kept does not fit in 9.8 kB: 0.8 kB is always in use (prefetched batches 0.8 kB), and the smallest memory plan found needs another 33.0 kB: it recomputes 1 kernel
// REFUSED: note: this takes 16.4 kB
// expected-remark@+1 {{@kept recomputes 1 of its 5 kernels}}
func.func @kept(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.exp %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = weir.tanh %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  %c = weir.kernel map(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = weir.exp %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  %d = weir.kernel row over #weir.rows<64 x 64>(%c) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  %e = weir.kernel row over #weir.rows<64 x 64>(%d, %a) : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.mul %0, %kept : tensor<64x64xf32>
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %2 : tensor<64xf32>
  }
  return %e : tensor<64xf32>
}
