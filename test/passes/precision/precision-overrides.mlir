// RUN: weir-opt --weir-strategy="precision=bf16" --weir-mixed-precision %s | FileCheck %s
// RUN: weir-opt --weir-mixed-precision %s | FileCheck %s --check-prefix=F32

// What is pinned to f32 multiplies what others round as it is; where all is f32, what is pinned lower is rounded all the same.
// CHECK-LABEL: func @pinned
// F32-LABEL: func @pinned
func.func @pinned(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK-DAG: %[[XL:.*]] = weir.cast %arg0 : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK-DAG: %[[WL:.*]] = weir.cast %arg1 : tensor<8x8xf32> -> tensor<8x8xbf16>
  // CHECK: weir.matmul %arg0, %arg1 : tensor<4x8xf32>
  // CHECK: weir.matmul %[[XL]], %[[WL]] : tensor<4x8xbf16>
  // F32: %[[W:.*]] = weir.cast %arg1 : tensor<8x8xf32> -> tensor<8x8xf16>
  // F32: %[[Y:.*]] = weir.matmul %arg0, %arg1 : tensor<4x8xf32>
  %y = weir.matmul %x, %w {weir.pin = "f32"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %z = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  // F32: %[[YL:.*]] = weir.cast %[[Y]] : tensor<4x8xf32> -> tensor<4x8xf16>
  // F32: weir.matmul %arg0, %arg1 : tensor<4x8xf32>
  // F32: weir.matmul %[[YL]], %[[W]] : tensor<4x8xf16>, tensor<8x8xf16> -> tensor<4x8xf32>
  %v = weir.matmul %y, %w {weir.pin = "f16"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %sum = weir.add %z, %v : tensor<4x8xf32>
  return %sum : tensor<4x8xf32>
}

// One that is pinned to f8.
// F32-LABEL: func @eight_bits
func.func @eight_bits(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // F32: weir.cast {{.*}} -> tensor<8x8xf8E4M3FN>
  // F32: weir.cast {{.*}} -> tensor<4x8xf8E4M3FN>
  // F32: weir.matmul {{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
  %y = weir.matmul %x, %w {weir.pin = "f8"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
