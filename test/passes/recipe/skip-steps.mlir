// RUN: weir-opt --weir-skip-steps %s | FileCheck %s

weir.variable parameter @w : tensor<2x3xf32>
weir.variable optimizer @m : tensor<2x3xf32>
weir.variable optimizer @n : tensor<3xf32>
weir.variable state @k : tensor<i32>

// What is not finite is counted: of a parameter and its moment in one sum, of a moment of another type in one of its own. The
// count decides first, then the scalars.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[LOSS:.*]]: tensor<f32>, %[[W1:.*]]: tensor<2x3xf32>, %[[M1:.*]]: tensor<2x3xf32>, %[[N1:.*]]: tensor<3xf32>, %[[K1:.*]]: tensor<i32>)
func.func @step(%loss: tensor<f32>, %w1: tensor<2x3xf32>, %m1: tensor<2x3xf32>, %n1: tensor<3xf32>, %k1: tensor<i32>) -> tensor<i1> {
  // CHECK-DAG: %[[W:.*]] = weir.read @w
  // CHECK-DAG: %[[M:.*]] = weir.read @m
  // CHECK-DAG: %[[N:.*]] = weir.read @n
  // CHECK-DAG: %[[K:.*]] = weir.read @k
  %w = weir.read @w : tensor<2x3xf32>
  // CHECK: %[[WF:.*]] = weir.is_finite %[[W1]]
  // CHECK: %[[MF:.*]] = weir.is_finite %[[M1]]
  // CHECK: %[[BOTH:.*]] = weir.and %[[WF]], %[[MF]]
  // CHECK: %[[BAD:.*]] = weir.not %[[BOTH]]
  // CHECK: %[[ONES:.*]] = weir.cast %[[BAD]]
  // CHECK: %[[COUNT:.*]] = weir.reduce sum %[[ONES]] {axes = array<i64: 0, 1>}
  // CHECK: weir.is_finite %[[N1]]
  // CHECK: %[[OTHER:.*]] = weir.reduce sum %{{.*}} {axes = array<i64: 0>}
  // CHECK: %[[ALL:.*]] = weir.add %[[COUNT]], %[[OTHER]]
  // CHECK: %[[NONE:.*]] = weir.compare eq %[[ALL]]
  // CHECK: %[[LF:.*]] = weir.is_finite %[[LOSS]]
  // CHECK: %[[FINITE:.*]] = weir.and %[[NONE]], %[[LF]]
  %finite = weir.all_finite %loss, %w1, %m1, %n1 : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>
  // CHECK: %[[WIDE:.*]] = weir.broadcast %[[FINITE]] {{.*}} -> tensor<2x3xi1>
  // CHECK: %[[NEXT:.*]] = weir.select %[[WIDE]], %[[W1]], %[[W]]
  // CHECK: weir.write @w, %[[NEXT]] : tensor<2x3xf32>
  weir.write @w, %w1 if %finite : tensor<2x3xf32>
  // CHECK: weir.select %{{.*}}, %[[M1]], %[[M]]
  weir.write @m, %m1 if %finite : tensor<2x3xf32>
  // CHECK: weir.select %{{.*}}, %[[N1]], %[[N]]
  weir.write @n, %n1 if %finite : tensor<3xf32>
  // CHECK: %[[KNEXT:.*]] = weir.select %[[FINITE]], %[[K1]], %[[K]]
  // CHECK: weir.write @k, %[[KNEXT]]
  weir.write @k, %k1 if %finite : tensor<i32>
  // CHECK: return %[[FINITE]]
  return %finite : tensor<i1>
}

// A write without a condition stays.
// CHECK-LABEL: func @always
func.func @always(%k: tensor<i32>) {
  // CHECK-NEXT: weir.write @k, %{{.*}} : tensor<i32>
  weir.write @k, %k : tensor<i32>
  return
}
