// RUN: weir-opt --weir-strategy="memory=1515520 offload=activations" --weir-rematerialize="target=cpu:x86-64-v4" --verify-diagnostics %s | FileCheck %s
// RUN: not weir-opt --weir-strategy="memory=1515520" --weir-rematerialize="target=cpu:x86-64-v4" %s 2>&1 | FileCheck %s --check-prefix=AGAIN

// What the last kernel reads is a product: its way to the host and back takes less time than its factors would to be multiplied
// again, and they need not stay. It goes as soon as it is made, and comes back ahead of its reader.
weir.variable parameter @w : tensor<512x64xf32>

// AGAIN: error: @kept does not fit
// CHECK-LABEL: func @kept
// CHECK: %[[A:.*]] = weir.kernel product
// CHECK: %[[AWAY:.*]] = weir.offload %[[A]] : tensor<64x64xf32>
// CHECK: %[[B:.*]] = weir.kernel map(%[[A]])
// CHECK: %[[C:.*]] = weir.kernel map(%[[B]])
// CHECK: %[[D:.*]] = weir.kernel row {{.*}}(%[[C]])
// CHECK-NOT: weir.kernel
// CHECK: %[[BACK:.*]] = weir.reload %[[AWAY]] : tensor<64x64xf32>
// CHECK: weir.kernel row {{.*}}(%[[D]], %[[BACK]])
// expected-remark@+1 {{@kept offloads 1 tensor of 16.4 kB to the host}}
func.func @kept(%x: tensor<64x512xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %w = weir.read @w : tensor<512x64xf32>
  %a = weir.kernel product over #weir.epilogue<>(%x, %w) : (tensor<64x512xf32>, tensor<512x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x512xf32>, %weight: tensor<512x64xf32>):
    %0 = weir.matmul %in, %weight : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x1024xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0, 2>} : tensor<64x64xf32> -> tensor<64x16x64xf32>
    %1 = weir.merge_dims %0 {first = 1 : i64, count = 2 : i64} : tensor<64x16x64xf32> -> tensor<64x1024xf32>
    weir.yield %1 : tensor<64x1024xf32>
  }
  %c = weir.kernel map(%b) : (tensor<64x1024xf32>) -> tensor<1024x64xf32> {
  ^bb0(%in: tensor<64x1024xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x1024xf32> -> tensor<1024x64xf32>
    weir.yield %0 : tensor<1024x64xf32>
  }
  %d = weir.kernel row over #weir.rows<1024 x 64>(%c) : (tensor<1024x64xf32>) -> tensor<1024xf32> {
  ^bb0(%in: tensor<1024x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<1024x64xf32> -> tensor<1024xf32>
    weir.yield %0 : tensor<1024xf32>
  }
  %e = weir.kernel row over #weir.rows<64 x 64>(%d, %a) : (tensor<1024xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<1024xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.slice %in {offsets = array<i64: 0>, sizes = array<i64: 64>, strides = array<i64: 1>} : tensor<1024xf32> -> tensor<64xf32>
    %1 = weir.broadcast %0 {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %2 = weir.mul %1, %kept : tensor<64x64xf32>
    %3 = weir.reduce sum %2 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %3 : tensor<64xf32>
  }
  return %e : tensor<64xf32>
}
