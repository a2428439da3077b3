// RUN: weir-opt --weir-widen-factors=target=cpu:x86-64-v3 %s | FileCheck %s

// Each product has a copy of its own; what is wide stays as it is.
// CHECK-LABEL: func @two
func.func @two(%a: tensor<4x4xbf16>, %b: tensor<4x4xbf16>, %c: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = weir.cast %arg0 : tensor<4x4xbf16> -> tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = weir.cast %arg1 : tensor<4x4xbf16> -> tensor<4x4xf32>
  // CHECK-NEXT: weir.matmul %[[A]], %[[B]] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %x = weir.matmul %a, %b : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xf32>
  // CHECK-NEXT: %[[AGAIN:.*]] = weir.cast %arg0
  // CHECK-NEXT: weir.matmul %[[AGAIN]], %arg2
  %y = weir.matmul %a, %c : tensor<4x4xbf16>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func @wide
func.func @wide(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: weir.matmul %arg0, %arg0
  %x = weir.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %x : tensor<4x4xf32>
}
