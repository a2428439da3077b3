// RUN: weir-opt --weir-strategy="microbatches=6" --weir-cut-microbatches --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-cut-microbatches --split-input-file %s | FileCheck %s --check-prefix=RECIPE

weir.variable run @seed : tensor<i32>
weir.variable parameter @w : tensor<2xf32>

// Two batches of six rows become six of two. Sums are over the rows of a part, and what all rows of a batch share is divided among
// its parts. Numbers drawn for each row count on over the parts; those drawn for a batch are those of its number.
// CHECK-LABEL: func @independent
// CHECK-SAME: (%[[X:.*]]: tensor<12x2xf32>)
// RECIPE: weir.microbatches 2
func.func @independent(%x: tensor<12x2xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[SEED:.*]] = weir.read @seed
  // CHECK: %[[R:.*]]:2 = weir.microbatches 6 sliced(%[[X]]) carried() : (tensor<12x2xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK-NEXT: ^bb0(%[[ROUND:.*]]: tensor<i32>, %[[PART:.*]]: tensor<2x2xf32>):
  // CHECK-NEXT: %[[THREE:.*]] = weir.constant 3 : i32
  // CHECK-NEXT: %[[BATCH:.*]] = weir.div %[[ROUND]], %[[THREE]]
  // CHECK-NEXT: %[[NOISE:.*]] = weir.random uniform seed %[[SEED]] step %[[SEED]] round %[[ROUND]] {{.*}} -> tensor<2x2xf32>
  // CHECK: weir.random normal seed %[[SEED]] step %[[SEED]] round %[[BATCH]] {{.*}} -> tensor<2xf32>
  // CHECK: weir.broadcast %{{.*}} -> tensor<2x2xf32>
  // CHECK: weir.constant 2.0
  // CHECK: weir.yield
  %seed = weir.read @seed : tensor<i32>
  %w = weir.read @w : tensor<2xf32>
  %s, %n = weir.microbatches 2 sliced(%x) carried() : (tensor<12x2xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<6x2xf32>):
    %noise = weir.random uniform seed %seed step %seed round %round {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x2xf32>
    %shift = weir.random normal seed %seed step %seed round %round {key = 2 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
    %moved = weir.add %w, %shift : tensor<2xf32>
    %all = weir.broadcast %moved {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<6x2xf32>
    %p = weir.mul %part, %all : tensor<6x2xf32>
    %q = weir.mul %p, %noise : tensor<6x2xf32>
    %sum = weir.reduce sum %q {axes = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<f32>
    %rows = weir.constant 6.0 : f32 -> tensor<f32>
    weir.yield %sum, %rows : tensor<f32>, tensor<f32>
  }
  return %s, %n : tensor<f32>, tensor<f32>
}

// -----

// As many as it has already: nothing is looked at.
// CHECK-LABEL: func @carried
// RECIPE: weir.microbatches 6
func.func @carried(%x: tensor<6xf32>, %c: tensor<f32>) -> tensor<f32> {
  // CHECK: weir.microbatches 6 {{.*}} carried(%{{.*}})
  %r = weir.microbatches 6 sliced(%x) carried(%c) : (tensor<6xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<1xf32>, %old: tensor<f32>):
    weir.yield %old : tensor<f32>
  }
  return %r : tensor<f32>
}
