// RUN: weir-opt --weir-strategy="grad-reduce-dtype=bf16" --weir-low-precision-gradient-reduction %s | FileCheck %s
// RUN: weir-opt --weir-strategy="grad-reduce-dtype=f16" --weir-low-precision-gradient-reduction %s | FileCheck %s --check-prefix=HALF
// RUN: weir-opt --weir-low-precision-gradient-reduction %s | FileCheck %s --check-prefix=F32
// RUN: weir-opt --weir-strategy="grad-reduce-dtype=bf16 mesh=dp=2 zero=1" --weir-low-precision-gradient-reduction --weir-clip --weir-propagate-layouts %s | FileCheck %s --check-prefix=CUTS
// RUN: weir-opt --weir-strategy="grad-reduce-dtype=bf16 mesh=dp=2 zero=1" --weir-low-precision-gradient-reduction --weir-clip --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives %s | FileCheck %s --check-prefix=RANK
// RUN: weir-opt --weir-strategy="grad-reduce-dtype=bf16 mesh=dp=2" --weir-low-precision-gradient-reduction --weir-clip --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives %s | FileCheck %s --check-prefix=WHOLE

// F32-NOT: weir.cast

weir.variable parameter @w : tensor<4x6xf32>
weir.variable parameter @b : tensor<6xf32>
weir.variable parameter @scale : tensor<f32>
weir.variable optimizer @"sgd.m/w" : tensor<4x6xf32>

// A gradient is rounded where it is a sum over all microbatches, and ahead of what divides it: f16 has no room for less. A scalar is not.
// CHECK-LABEL: func @step
// CHECK: %[[SUMS:.*]]:2 = weir.microbatches 2
// CHECK: %[[LOW:.*]] = weir.cast %[[SUMS]]#0 {weir.parts} : tensor<4x6xf32> -> tensor<4x6xbf16>
// CHECK-NEXT: %[[W:.*]] = weir.cast %[[LOW]] : tensor<4x6xbf16> -> tensor<4x6xf32>
// CHECK: %[[G:.*]] = weir.mul %[[W]], %{{.*}} {weir.unscales} : tensor<4x6xf32>
// CHECK: weir.cast %{{.*}} {weir.parts} : tensor<6xf32> -> tensor<6xbf16>
// CHECK: weir.clip(%[[G]], %{{.*}}, %[[SUMS]]#1)
// CHECK-NOT: weir.cast
// HALF: weir.cast %{{.*}} {weir.parts} : tensor<4x6xf32> -> tensor<4x6xf16>

// Ranks have not added up what is rounded, however the optimizer's part is cut.
// CUTS-LABEL: func @step
// CUTS: weir.cast %{{.*}} {weir.parts} : tensor<4x6xf32>
// CUTS-NEXT: weir.cast %{{.*}} {weir.factor_sharding = #weir.sharding<[4@dp, 6]>} : tensor<4x6xbf16>

// They exchange what is narrow, once, and each widens its part of the sum; without the optimizer's parts, all of it.
// RANK-LABEL: func @step
// RANK: weir.microbatches 2
// RANK-NOT: weir.all_to_all
// RANK: weir.yield
// RANK: weir.all_to_all {{.*}} over "dp" {{.*}}xbf16> -> {{.*}}xbf16>
// RANK: weir.cast {{.*}} : tensor<2x6xbf16> -> tensor<2x6xf32>
// WHOLE-LABEL: func @step
// WHOLE: weir.cast {{.*}} : tensor<4x6xf32> -> tensor<4x6xbf16>
// WHOLE: weir.all_gather {{.*}} over "dp" {{.*}}xbf16> -> {{.*}}xbf16>
// WHOLE: weir.cast {{.*}} : tensor<4x6xbf16> -> tensor<4x6xf32>
func.func @step(%x: tensor<8x4xf32> {weir.input = "x"}) {
  %w = weir.read @w : tensor<4x6xf32>
  %b = weir.read @b : tensor<6xf32>
  %m = weir.read @"sgd.m/w" : tensor<4x6xf32>
  %inverse = weir.constant 0.25 : f32 -> tensor<f32>
  %sum, %count = weir.microbatches 2 sliced(%x) carried() : (tensor<8x4xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %rows: tensor<4x4xf32>):
    %y = weir.matmul %rows, %w : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    %g = weir.matmul %rows, %y {transpose_lhs} : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    %all = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x6xf32> -> tensor<f32>
    weir.yield %g, %all : tensor<4x6xf32>, tensor<f32>
  }
  %wide = weir.broadcast %inverse {dimensions = array<i64>} : tensor<f32> -> tensor<4x6xf32>
  %gradient = weir.mul %sum, %wide {weir.unscales} : tensor<4x6xf32>
  %ofBias = weir.reduce sum %x {axes = array<i64: 0, 1>} : tensor<8x4xf32> -> tensor<f32>
  %bias = weir.broadcast %ofBias {dimensions = array<i64>} : tensor<f32> -> tensor<6xf32>
  %more = weir.add %bias, %b : tensor<6xf32>
  %norm = weir.clip(%gradient, %more, %count) : (tensor<4x6xf32>, tensor<6xf32>, tensor<f32>) -> tensor<f32>
  %now = weir.add %m, %gradient : tensor<4x6xf32>
  %next = weir.sub %w, %now : tensor<4x6xf32>
  weir.write @"sgd.m/w", %now : tensor<4x6xf32>
  weir.write @w, %next : tensor<4x6xf32>
  return
}
