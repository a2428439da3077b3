// RUN: not weir-opt --weir-strategy="loss-scale=dynamic" --weir-scale-loss %s 2>&1 | FileCheck %s
// RUN: weir-opt --weir-strategy="loss-scale=2" --weir-scale-loss %s | FileCheck %s --check-prefix=STATIC

// A dynamic scale has to know the norm, one that stays what it is has not.
// CHECK: error: a dynamic loss scale follows the norm of one weir.clip, found 0
// STATIC: func @step
func.func @step(%w: tensor<f32>) -> tensor<f32> {
  %g = weir.gradient %w wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
