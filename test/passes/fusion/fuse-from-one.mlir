// RUN: weir-opt --weir-fuse=target=cuda --weir-merge-equal %s | FileCheck %s

// Three values that the gradient of gelu reads take more memory than the product's result that they
// are made of.
// CHECK-LABEL: func @recompute_from_one
func.func @recompute_from_one(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = weir.kernel product
  // CHECK: %[[G:.*]] = weir.kernel map(%[[Y]])
  // CHECK-NOT: weir.exp
  // CHECK: weir.erf
  // CHECK-NOT: weir.exp
  // CHECK: %[[D:.*]] = weir.kernel product
  // CHECK: weir.kernel map(%[[Y]], %[[D]])
  // CHECK: weir.erf
  // CHECK: weir.exp
  %y = weir.matmul %x, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %half = weir.constant 0.5 : f32 -> tensor<16x8xf32>
  %one = weir.constant 1.0 : f32 -> tensor<16x8xf32>
  %a = weir.mul %y, %half : tensor<16x8xf32>
  %b = weir.erf %y : tensor<16x8xf32>
  %c = weir.add %b, %one : tensor<16x8xf32>
  %g = weir.mul %a, %c : tensor<16x8xf32>
  %n = weir.neg %y : tensor<16x8xf32>
  %e = weir.exp %n : tensor<16x8xf32>
  %d = weir.matmul %g, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %1 = weir.mul %d, %a : tensor<16x8xf32>
  %2 = weir.mul %1, %e : tensor<16x8xf32>
  %3 = weir.mul %d, %c : tensor<16x8xf32>
  %4 = weir.add %2, %3 : tensor<16x8xf32>
  return %g, %4 : tensor<16x8xf32>, tensor<16x8xf32>
}
