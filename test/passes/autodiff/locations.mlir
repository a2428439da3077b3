// RUN: weir-opt --weir-autodiff --mlir-print-debuginfo %s | FileCheck %s

// CHECK: weir.sin {{.*}} loc(#[[GRADIENT:.*]])
// CHECK: #[[LINE:.*]] = loc("model.weir":7:3)
// CHECK: #[[GRADIENT]] = loc("the gradient"(#[[LINE]]))
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %y = weir.cos %x : tensor<f32> loc("model.weir":7:3)
  %g = weir.gradient %y wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
