// RUN: weir-opt --weir-merge-equal %s | FileCheck %s

// Equal ops of two phases are one, in the first one's phase, and so are kernels.
// CHECK-LABEL: func @phases
func.func @phases(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[NEG:.*]] = weir.neg %arg0 {weir.phase = #weir.phase<forward>}
  // CHECK-NOT: weir.neg
  // CHECK: %[[KERNEL:.*]] = weir.kernel map(%arg0) {weir.result_phases = [#weir.phase<forward>]}
  // CHECK-NOT: weir.kernel
  // CHECK: return %[[NEG]], %[[NEG]], %[[KERNEL]], %[[KERNEL]]
  %a = weir.neg %x {weir.phase = #weir.phase<forward>} : tensor<4xf32>
  %b = weir.neg %x {weir.phase = #weir.phase<backward>} : tensor<4xf32>
  %c = weir.kernel map(%x) {weir.result_phases = [#weir.phase<forward>]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<4xf32>):
    %e = weir.exp %in : tensor<4xf32>
    weir.yield %e : tensor<4xf32>
  }
  %d = weir.kernel map(%x) {weir.result_phases = [#weir.phase<backward>]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%in: tensor<4xf32>):
    %e = weir.exp %in : tensor<4xf32>
    weir.yield %e : tensor<4xf32>
  }
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
