// RUN: weir-opt --weir-strategy="param-dtype=bf16" --weir-bf16-parameters %s | FileCheck %s
// RUN: weir-opt --weir-strategy="param-dtype=bf16" --weir-bf16-parameters --weir-bf16-parameters %s | FileCheck %s
// RUN: weir-opt --weir-bf16-parameters %s | FileCheck %s --check-prefix=F32


// F32-NOT: bf16
// F32-NOT: round_at_random

// Parameters and what optimizers keep of them are narrow; scalars and blocks' states are not.
// CHECK: weir.variable parameter @w : tensor<3xbf16>
// CHECK: weir.variable parameter @b : tensor<2xbf16>
// CHECK: weir.variable parameter @scale : tensor<f32>
// CHECK: weir.variable state @mean : tensor<3xf32>
// CHECK: weir.variable optimizer @"adamw.m/w" : tensor<3xbf16>
// CHECK: weir.variable optimizer @"adamw.power/w" : tensor<f32>
// CHECK: weir.variable run @"run/step" : tensor<i32>
weir.variable parameter @w : tensor<3xf32>
weir.variable parameter @b : tensor<2xf32>
weir.variable parameter @scale : tensor<f32>
weir.variable state @mean : tensor<3xf32>
weir.variable optimizer @"adamw.m/w" : tensor<3xf32>
weir.variable optimizer @"adamw.power/w" : tensor<f32>
weir.variable run @"run/seed" : tensor<i32>
weir.variable run @"run/step" : tensor<i32>

// What is read is widened; what is written is rounded by a draw, one word of it for each variable of a parameter.
// CHECK-LABEL: func @step
// CHECK: %[[SEED:.*]] = weir.read @"run/seed"
// CHECK: %[[STEP:.*]] = weir.read @"run/step"
// CHECK: %[[ZERO:.*]] = weir.constant 0 : i32
// CHECK: %[[N:.*]] = weir.read @w : tensor<3xbf16>
// CHECK: %[[W:.*]] = weir.cast %[[N]] : tensor<3xbf16> -> tensor<3xf32>
// CHECK: %[[M:.*]] = weir.read @"adamw.m/w" : tensor<3xbf16>
// CHECK: weir.read @mean : tensor<3xf32>
// CHECK: %[[W1:.*]] = weir.add %[[W]]
// CHECK: weir.all_finite %[[W1]]
// CHECK: %[[U:.*]] = weir.random uniform seed %[[SEED]] step %[[STEP]] round %[[ZERO]] {key = [[KEY:-?[0-9]+]] : i64}
// CHECK: %[[R:.*]] = weir.round_at_random %[[W1]] by %[[U]]
// CHECK: %[[L:.*]] = weir.cast %[[R]] : tensor<3xf32> -> tensor<3xbf16>
// CHECK: weir.write @w, %[[L]] if
// CHECK: %[[V:.*]] = weir.random uniform seed %[[SEED]] step %[[STEP]] round %[[ZERO]] {key = [[KEY]] : i64, word = 1 : i64}
// CHECK: weir.round_at_random %{{.*}} by %[[V]]
// CHECK: weir.write @"adamw.m/w"
// CHECK-NOT: [[KEY]]
// CHECK: weir.random uniform {{.*}} -> tensor<2xf32>
// CHECK: weir.write @b
// CHECK: weir.write @scale, %{{.*}} : tensor<f32>
// CHECK: weir.write @mean, %{{.*}} : tensor<3xf32>
func.func @step(%g: tensor<3xf32>, %h: tensor<2xf32>, %s: tensor<f32>) {
  %w = weir.read @w : tensor<3xf32>
  %m = weir.read @"adamw.m/w" : tensor<3xf32>
  %mean = weir.read @mean : tensor<3xf32>
  %w1 = weir.add %w, %g : tensor<3xf32>
  %m1 = weir.add %m, %g : tensor<3xf32>
  %finite = weir.all_finite %w1 : tensor<3xf32>
  weir.write @w, %w1 if %finite : tensor<3xf32>
  weir.write @"adamw.m/w", %m1 : tensor<3xf32>
  weir.write @b, %h : tensor<2xf32>
  weir.write @scale, %s : tensor<f32>
  weir.write @mean, %mean : tensor<3xf32>
  return
}

// What a run begins with is rounded to nearest.
// CHECK-LABEL: func @init
// CHECK-NOT: round_at_random
// CHECK: %[[I:.*]] = weir.cast %arg0 : tensor<3xf32> -> tensor<3xbf16>
// CHECK: weir.write @w, %[[I]]
func.func @init(%x: tensor<3xf32>) {
  weir.write @w, %x : tensor<3xf32>
  return
}

// CHECK-LABEL: func @predict
// CHECK: %[[P:.*]] = weir.read @w : tensor<3xbf16>
// CHECK: %[[WIDE:.*]] = weir.cast %[[P]] : tensor<3xbf16> -> tensor<3xf32>
// CHECK: return %[[WIDE]]
func.func @predict() -> tensor<3xf32> {
  %w = weir.read @w : tensor<3xf32>
  return %w : tensor<3xf32>
}
