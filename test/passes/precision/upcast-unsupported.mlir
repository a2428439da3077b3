// RUN: weir-opt --weir-upcast-unsupported=target=cpu:x86-64-v3 %s | FileCheck %s
// RUN: weir-opt --weir-upcast-unsupported=target=cpu:x86-64-v4+bf16 %s | FileCheck %s --check-prefix=BF16

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

// What multiplies bf16 takes it as it is, but beside what is wide; f8 fits into it, by way of f32; f16 does not.
// BF16-LABEL: func @two
// BF16-NEXT: weir.matmul %arg0, %arg1 : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xf32>
// BF16-NEXT: %[[WIDE:.*]] = weir.cast %arg0 : tensor<4x4xbf16> -> tensor<4x4xf32>
// BF16-NEXT: weir.matmul %[[WIDE]], %arg2 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
// BF16-LABEL: func @others
func.func @others(%a: tensor<4x4xf8E4M3FN>, %b: tensor<4x4xf8E5M2>, %c: tensor<4x4xf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // BF16-NEXT: %[[WIDE:.*]] = weir.cast %arg0 : tensor<4x4xf8E4M3FN> -> tensor<4x4xf32>
  // BF16-NEXT: %[[A:.*]] = weir.cast %[[WIDE]] : tensor<4x4xf32> -> tensor<4x4xbf16>
  // BF16-NEXT: %[[WIDE:.*]] = weir.cast %arg1
  // BF16-NEXT: %[[B:.*]] = weir.cast %[[WIDE]]
  // BF16-NEXT: weir.matmul %[[A]], %[[B]] : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xf32>
  %x = weir.matmul %a, %b : tensor<4x4xf8E4M3FN>, tensor<4x4xf8E5M2> -> tensor<4x4xf32>
  // BF16: weir.matmul {{.*}} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %y = weir.matmul %c, %c : tensor<4x4xf16>, tensor<4x4xf16> -> tensor<4x4xf32>
  return %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func @wide
func.func @wide(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: weir.matmul %arg0, %arg0
  %x = weir.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %x : tensor<4x4xf32>
}
