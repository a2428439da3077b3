// RUN: weir-opt --weir-strategy="precision=tf32" --weir-mixed-precision --weir-upcast-unsupported=target=cuda %s | FileCheck %s
// RUN: weir-opt --weir-strategy="precision=bf16" --weir-mixed-precision --weir-upcast-unsupported=target=cuda %s | FileCheck %s --check-prefix=BF16
// RUN: weir-opt --weir-strategy="precision=bf16" --weir-mixed-precision --weir-upcast-unsupported=target=cpu:x86-64-v3 %s | FileCheck %s --check-prefix=WIDE
// RUN: not weir-opt --weir-strategy="precision=tf32" --weir-mixed-precision --weir-upcast-unsupported=target=cpu:x86-64-v3 %s 2>&1 | FileCheck %s --check-prefix=CPU

// In tf32 nothing is rounded in memory: every op that multiplies says what may be rounded on the way. In bf16 only those do that
// multiply what they compute themselves.
// CHECK-LABEL: func @f
// BF16-LABEL: func @f
// CHECK-NOT: weir.cast
// WIDE-NOT: weir.factors
// CPU: factors.mlir:[[@LINE+7]]:8: error: has precision tf32, but x86-64-v3 cannot multiply tf32: give it precision f32, or compile for a GPU (--target cuda)
func.func @f(%q: tensor<1x1x4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<1x1x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %flat = weir.merge_dims %q {first = 0, count = 3} : tensor<1x1x4x8xf32> -> tensor<4x8xf32>
  // CHECK: weir.exp {{.*}} : tensor<4x8xf32>
  %e = weir.exp %flat : tensor<4x8xf32>
  // CHECK: weir.matmul {{.*}} {weir.factors = "tf32"} : tensor<4x8xf32>, tensor<8x8xf32>
  // BF16: weir.matmul {{%[0-9a-z]+, %[0-9a-z]+}} : tensor<4x8xbf16>
  %p = weir.matmul %e, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: weir.attention {{.*}}weir.factors = "tf32"
  // BF16: weir.attention {{.*}}weir.factors = "bf16"
  %a, %l = weir.attention %q, %q, %q {scale = 0.5 : f64} : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32> -> tensor<1x1x4xf32>
  // A pin counts.
  // CHECK: weir.matmul {{%[0-9a-z]+, %[0-9a-z]+}} : tensor<4x8xf32>, tensor<8x8xf32>
  %r = weir.matmul %flat, %w {weir.pin = "f32"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %a, %p, %r : tensor<1x1x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
