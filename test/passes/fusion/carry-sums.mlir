// RUN: weir-opt --weir-carry-sums %s | FileCheck %s

// CHECK-LABEL: func @sum
func.func @sum(%x: tensor<6x2xf32>, %s: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[ZERO:.*]] = weir.constant 0.0{{.*}} -> tensor<2xf32>
  // CHECK: weir.microbatches 3 sliced(%{{.*}}) carried(%[[ZERO]], %{{.*}})
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[SLICE:.*]]: tensor<2x2xf32>, %[[SUM:.*]]: tensor<2xf32>, %[[STATE:.*]]: tensor<2xf32>)
  // CHECK-NEXT: %[[R:.*]] = weir.reduce sum %[[SLICE]]
  // CHECK-NEXT: %[[NEXT:.*]] = weir.neg %[[STATE]]
  // CHECK-NEXT: %[[ADDED:.*]] = weir.add %[[SUM]], %[[R]]
  // CHECK-NEXT: weir.yield %[[ADDED]], %[[NEXT]]
  %0:2 = weir.microbatches 3 sliced(%x) carried(%s) : (tensor<6x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%round: tensor<i32>, %slice: tensor<2x2xf32>, %state: tensor<2xf32>):
    %r = weir.reduce sum %slice {axes = array<i64: 0>} : tensor<2x2xf32> -> tensor<2xf32>
    %n = weir.neg %state : tensor<2xf32>
    weir.yield %r, %n : tensor<2xf32>, tensor<2xf32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
