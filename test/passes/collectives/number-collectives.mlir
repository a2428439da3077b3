// RUN: weir-opt --weir-number-collectives %s | FileCheck %s

// In the order of the entry, inside and outside of its loops.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<2x3xf32>, %y: tensor<4x2xf32>) -> (tensor<4x3xf32>, tensor<8x2xf32>) {
  // CHECK: weir.all_gather %{{.*}} over "dp" rows [2, 2] {weir.number = 1 : i64}
  %a = weir.all_gather %x over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  // CHECK: weir.all_to_all %{{.*}} over "tp" rows [2, 2] {weir.number = 2 : i64}
  %b = weir.all_to_all %y over "tp" rows [2, 2] : tensor<4x2xf32> -> tensor<4x2xf32>
  // CHECK: weir.all_gather %{{.*}} over "dp" rows [4, 4] {weir.number = 3 : i64}
  %c = weir.all_gather %b over "dp" rows [4, 4] : tensor<4x2xf32> -> tensor<8x2xf32>
  return %a, %c : tensor<4x3xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: func @loop
func.func @loop(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // CHECK: weir.microbatches
  %sum = weir.microbatches 1 sliced(%x) carried() : (tensor<2x3xf32>) -> tensor<4x3xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x3xf32>):
    // CHECK: weir.number = 1 : i64
    %a = weir.all_gather %part over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
    weir.yield %a : tensor<4x3xf32>
  }
  // CHECK: weir.number = 2 : i64
  %b = weir.all_gather %x over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  %c = weir.add %sum, %b : tensor<4x3xf32>
  return %c : tensor<4x3xf32>
}

// Each entry has its own.
// CHECK-LABEL: func @eval
func.func @eval(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // CHECK: weir.number = 1 : i64
  %a = weir.all_gather %x over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  return %a : tensor<4x3xf32>
}
