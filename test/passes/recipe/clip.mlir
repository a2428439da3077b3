// RUN: weir-opt --weir-clip %s | FileCheck %s

// The gradients' squares, in their order, those of large elements apart; a scalar is its own sum.
// CHECK-LABEL: func @clipped
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<f32>, %[[LIMIT:.*]]: tensor<f32>)
func.func @clipped(%a: tensor<2x3xf32>, %b: tensor<f32>, %limit: tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>) {
  // CHECK: %[[LARGE:.*]] = weir.compare gt %{{.*}}, %{{.*}} : tensor<2x3xf32>
  // CHECK: %[[USUAL:.*]] = weir.select %[[LARGE]], %{{.*}}, %[[A]]
  // CHECK: %[[A2:.*]] = weir.mul %[[USUAL]], %[[USUAL]]
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[A2]] {axes = array<i64: 0, 1>}
  // CHECK: %[[SCALED:.*]] = weir.mul %[[A]], %{{.*}}
  // CHECK: %[[REST:.*]] = weir.select %[[LARGE]], %[[SCALED]], %{{.*}}
  // CHECK: %[[L2:.*]] = weir.mul %[[REST]], %[[REST]]
  // CHECK: %[[LSUM:.*]] = weir.reduce sum %[[L2]] {axes = array<i64: 0, 1>}
  // CHECK: %[[B2:.*]] = weir.mul
  // CHECK: %[[ALL:.*]] = weir.add %[[SUM]], %[[B2]]
  // CHECK: %[[LALL:.*]] = weir.add %[[LSUM]], %{{.*}}
  // CHECK: %[[ANY:.*]] = weir.compare gt %[[LALL]], %{{.*}} : tensor<f32>
  // CHECK: %[[PLAIN:.*]] = weir.sqrt %[[ALL]]
  // CHECK: %[[NORM:.*]] = weir.select %[[ANY]], %{{.*}}, %[[PLAIN]]
  // CHECK: %[[TINY:.*]] = weir.constant 9.99999997E-7
  // CHECK: %[[ABOVE:.*]] = weir.add %[[NORM]], %[[TINY]]
  // CHECK: %[[RATIO:.*]] = weir.div %[[LIMIT]], %[[ABOVE]]
  // CHECK: %[[ONE:.*]] = weir.constant 1.0
  // CHECK: %[[FACTOR:.*]] = weir.min %[[RATIO]], %[[ONE]]
  // CHECK: %[[WIDE:.*]] = weir.broadcast %[[FACTOR]]
  // CHECK: %[[AC:.*]] = weir.mul %[[A]], %[[WIDE]]
  // CHECK: %[[BC:.*]] = weir.mul %[[B]], %[[FACTOR]]
  // CHECK: return %[[NORM]], %[[AC]], %[[BC]]
  %norm, %c, %d = weir.clip (%a, %b) to %limit
    : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<f32>)
  return %norm, %c, %d : tensor<f32>, tensor<2x3xf32>, tensor<f32>
}

// CHECK-LABEL: func @norm_alone
// CHECK-SAME: (%[[A:.*]]: tensor<5xf32>)
func.func @norm_alone(%a: tensor<5xf32>) -> tensor<f32> {
  // CHECK-NOT: weir.min
  // CHECK: %[[NORM:.*]] = weir.select %{{.*}} : tensor<i1>, tensor<f32>
  // CHECK-NEXT: return %[[NORM]]
  %norm = weir.clip (%a) : (tensor<5xf32>) -> tensor<f32>
  return %norm : tensor<f32>
}

// Nothing to clip: a norm of 0.
// CHECK-LABEL: func @no_gradients
func.func @no_gradients() -> tensor<f32> {
  // CHECK: %[[ZERO:.*]] = weir.constant 0.0
  // CHECK: weir.sqrt %[[ZERO]]
  %norm = weir.clip () : () -> tensor<f32>
  return %norm : tensor<f32>
}
