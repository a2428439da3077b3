// RUN: weir-opt --weir-order-collectives %s | FileCheck %s
// RUN: sed 's/{weir.equal_shards}/{}/' %s | weir-opt --weir-order-collectives | FileCheck %s --check-prefix=UNEQUAL

module attributes {weir.equal_shards} {
// What is behind fewer ops is exchanged first, and the sum of its parts behind the next. Ranks with shards of different sizes run
// different programs, in which collectives keep their order.
// CHECK-LABEL: func @gradients
// UNEQUAL-LABEL: func @gradients
// UNEQUAL: %[[LAST:.*]] = weir.exp %arg0
// UNEQUAL: %[[MIDDLE:.*]] = weir.exp %[[LAST]]
// UNEQUAL: %[[FIRST:.*]] = weir.exp %[[MIDDLE]]
// UNEQUAL: weir.all_to_all %[[FIRST]]
// UNEQUAL: weir.all_to_all %[[LAST]]
func.func @gradients(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %last = weir.exp %x : tensor<4x3xf32>
  %middle = weir.exp %last : tensor<4x3xf32>
  %first = weir.exp %middle : tensor<4x3xf32>
  // CHECK: %[[LAST:.*]] = weir.exp %arg0
  // CHECK: %[[MIDDLE:.*]] = weir.exp %[[LAST]]
  // CHECK: %[[FIRST:.*]] = weir.exp %[[MIDDLE]]
  // CHECK: %[[OF_LAST:.*]] = weir.all_to_all %[[LAST]]
  // CHECK: %[[OF_FIRST:.*]] = weir.all_to_all %[[FIRST]]
  // CHECK: weir.all_gather {{.*}}
  // CHECK: weir.all_gather {{.*}}
  // CHECK: return
  %0 = weir.all_to_all %first over "dp" rows [2, 2] : tensor<4x3xf32> -> tensor<4x3xf32>
  %1 = weir.slice %0 {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<4x3xf32> -> tensor<2x3xf32>
  %2 = weir.all_gather %1 over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  %3 = weir.all_to_all %last over "dp" rows [2, 2] : tensor<4x3xf32> -> tensor<4x3xf32>
  %4 = weir.slice %3 {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<4x3xf32> -> tensor<2x3xf32>
  %5 = weir.all_gather %4 over "dp" rows [2, 2] : tensor<2x3xf32> -> tensor<4x3xf32>
  return %2, %5 : tensor<4x3xf32>, tensor<4x3xf32>
}
}
