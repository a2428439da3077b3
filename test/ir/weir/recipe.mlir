// RUN: weir-opt %s | weir-opt | FileCheck %s

weir.variable parameter @w : tensor<4xf32>

// CHECK-LABEL: @step_entry
func.func @step_entry(%s: tensor<f32>, %n: tensor<f32>, %g: tensor<4xf32>) -> (tensor<f32>, tensor<i1>) {
  // CHECK: weir.loss [1.000000e+00, 5.000000e-01] sums(%{{.*}}, %{{.*}}) counts(%{{.*}}, %{{.*}}) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %loss = weir.loss [1.0, 0.5] sums(%s, %s) counts(%n, %n) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: weir.clip(%{{.*}}) to %{{.*}} : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  %norm, %clipped = weir.clip (%g) to %n : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  // CHECK: weir.clip(%{{.*}}) : (tensor<4xf32>) -> tensor<f32>
  %after = weir.clip (%clipped) : (tensor<4xf32>) -> tensor<f32>
  // CHECK: %[[F:.*]] = weir.all_finite %{{.*}}, %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>, tensor<4xf32>
  %finite = weir.all_finite %loss, %norm, %clipped : tensor<f32>, tensor<f32>, tensor<4xf32>
  // CHECK: weir.write @w, %{{.*}} if %[[F]] : tensor<4xf32>
  weir.write @w, %clipped if %finite : tensor<4xf32>
  return %after, %finite : tensor<f32>, tensor<i1>
}
