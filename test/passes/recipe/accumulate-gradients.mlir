// RUN: weir-opt --weir-accumulate-gradients --split-input-file %s | FileCheck %s

weir.variable parameter @w : tensor<2xf32>

// The gradient of each microbatch's share of the loss, in it; counts known when compiling are of the whole step.
// CHECK-LABEL: func @static_count
// CHECK-SAME: (%[[X:.*]]: tensor<6x2xf32>)
func.func @static_count(%x: tensor<6x2xf32>) -> (tensor<f32>, tensor<f32>, tensor<2xf32>) {
  // CHECK: %[[W:.*]] = weir.read @w
  // CHECK: %[[N:.*]] = weir.constant 6.0
  // CHECK: %[[R:.*]]:2 = weir.microbatches 3 sliced(%[[X]]) carried() : (tensor<6x2xf32>) -> (tensor<2xf32>, tensor<f32>)
  // CHECK: %[[S:.*]] = weir.reduce sum
  // CHECK: %[[SHARE:.*]] = weir.div %[[S]], %[[N]]
  // CHECK: %[[G:.*]] = weir.gradient %[[SHARE]] wrt(%[[W]])
  // CHECK: weir.yield %[[G]], %[[S]]
  // CHECK: %[[LOSS:.*]] = weir.div %[[R]]#1, %[[N]]
  // CHECK: return %[[LOSS]], %[[R]]#1, %[[R]]#0
  %w = weir.read @w : tensor<2xf32>
  %s = weir.microbatches 3 sliced(%x) carried() : (tensor<6x2xf32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2x2xf32>):
    %p = weir.matmul %part, %part {transpose_rhs} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
    %all = weir.broadcast %w {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<2x2xf32>
    %q = weir.mul %p, %all : tensor<2x2xf32>
    %sum = weir.reduce sum %q {axes = array<i64: 0, 1>} : tensor<2x2xf32> -> tensor<f32>
    weir.yield %sum : tensor<f32>
  }
  %n = weir.constant 6.0 : f32 -> tensor<f32>
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %loss, %s, %g : tensor<f32>, tensor<f32>, tensor<2xf32>
}

// -----

weir.variable parameter @w : tensor<f32>
weir.variable state @seen : tensor<f32>
weir.variable state @mean : tensor<f32>

// Counts that the body computes come first, with the state that they depend on and without the one that they do not.
// CHECK-LABEL: func @counted
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @counted(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK-DAG: %[[W:.*]] = weir.read @w
  // CHECK-DAG: %[[SEEN:.*]] = weir.read @seen
  // CHECK-DAG: %[[MEAN:.*]] = weir.read @mean
  // CHECK: %[[COUNTS:.*]]:2 = weir.microbatches 2 sliced(%[[X]]) carried(%[[SEEN]]) : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[PART:.*]]: tensor<2xf32>, %[[BEFORE:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[SUM:.*]] = weir.reduce sum %[[PART]]
  // CHECK-NEXT: %[[COUNT:.*]] = weir.add %[[SUM]], %[[BEFORE]]
  // CHECK-NEXT: weir.yield %[[COUNT]], %[[SUM]]
  // CHECK: %[[R:.*]]:4 = weir.microbatches 2 sliced(%[[X]]) carried(%[[SEEN]], %[[MEAN]])
  // CHECK: %[[S:.*]] = weir.mul
  // CHECK: %[[NOTHING:.*]] = weir.compare eq %[[COUNTS]]#0, %[[NUMBER:.*]] : tensor<f32>
  // CHECK: %[[DIVISOR:.*]] = weir.select %[[NOTHING]], %{{.*}}, %[[COUNTS]]#0
  // CHECK: %[[MEAN_OF_PART:.*]] = weir.div %[[S]], %[[DIVISOR]]
  // CHECK: %[[COUNTED:.*]] = weir.select %[[NOTHING]], %[[NUMBER]], %[[MEAN_OF_PART]]
  // CHECK: %[[SHARE:.*]] = weir.mul %[[COUNTED]]
  // CHECK: %[[G:.*]] = weir.gradient %[[SHARE]] wrt(%[[W]])
  // CHECK: weir.yield %[[G]], %[[S]],
  // CHECK: %[[MEAN_OF_ALL:.*]] = weir.div %[[R]]#1
  // CHECK: %[[COUNTED_OF_ALL:.*]] = weir.select %{{.*}}, %{{.*}}, %[[MEAN_OF_ALL]]
  // CHECK: %[[LOSS:.*]] = weir.mul %[[COUNTED_OF_ALL]]
  // CHECK: weir.write @seen, %[[R]]#2
  // CHECK: weir.write @mean, %[[R]]#3
  // CHECK: return %[[R]]#0, %[[COUNTS]]#0, %[[LOSS]]
  %w = weir.read @w : tensor<f32>
  %seen = weir.read @seen : tensor<f32>
  %mean = weir.read @mean : tensor<f32>
  %s, %n, %seen1, %mean1 = weir.microbatches 2 sliced(%x) carried(%seen, %mean)
      : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>, %before: tensor<f32>, %old: tensor<f32>):
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %count = weir.add %sum, %before : tensor<f32>
    %product = weir.mul %sum, %w : tensor<f32>
    %moved = weir.add %old, %product : tensor<f32>
    weir.yield %product, %count, %sum, %moved : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  %loss = weir.loss [0.5] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  weir.write @seen, %seen1 : tensor<f32>
  weir.write @mean, %mean1 : tensor<f32>
  return %g, %n, %loss : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

weir.variable parameter @w : tensor<f32>

// A sum that is divided by itself: as a count it is of all microbatches, the share is of one.
// CHECK-LABEL: func @sum_and_count
func.func @sum_and_count(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[ALL:.*]] = weir.microbatches 2
  // CHECK: weir.microbatches 2
  // CHECK: %[[SUM:.*]] = weir.reduce sum
  // CHECK: %[[PRODUCT:.*]] = weir.mul %[[SUM]]
  // CHECK: %[[DIVISOR:.*]] = weir.select %{{.*}}, %{{.*}}, %[[ALL]]
  // CHECK: %[[RATIO:.*]] = weir.div %[[PRODUCT]], %[[DIVISOR]]
  // CHECK: %[[SHARE:.*]] = weir.select %{{.*}}, %{{.*}}, %[[RATIO]]
  // CHECK: weir.gradient %[[SHARE]]
  // CHECK: %[[DIVISOR_OF_ALL:.*]] = weir.select %{{.*}}, %{{.*}}, %[[ALL]]
  // CHECK: weir.div %[[ALL]], %[[DIVISOR_OF_ALL]]
  %w = weir.read @w : tensor<f32>
  %s, %p = weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %product = weir.mul %sum, %w : tensor<f32>
    weir.yield %sum, %product : tensor<f32>, tensor<f32>
  }
  %loss = weir.loss [1.0] sums(%p) counts(%p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g, %loss : tensor<f32>, tensor<f32>
}

// -----

weir.variable parameter @w : tensor<f32>
weir.variable state @mean : tensor<f32>

// One microbatch needs no rounds: its body stands where it stood, in round 0.
// CHECK-LABEL: func @one
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @one(%x: tensor<4xf32>) -> (tensor<f32>, tensor<i32>) {
  // CHECK-NOT: weir.microbatches
  // CHECK: %[[ZERO:.*]] = weir.constant 0 : i32
  // CHECK: %[[SUM:.*]] = weir.reduce sum %[[X]]
  // CHECK: %[[S:.*]] = weir.mul %[[SUM]]
  // CHECK: %[[DIVISOR:.*]] = weir.select %{{.*}}, %{{.*}}, %[[SUM]]
  // CHECK: %[[RATIO:.*]] = weir.div %[[S]], %[[DIVISOR]]
  // CHECK: %[[LOSS:.*]] = weir.select %{{.*}}, %{{.*}}, %[[RATIO]]
  // CHECK: weir.gradient %[[LOSS]]
  // CHECK: weir.write @mean, %[[SUM]]
  %w = weir.read @w : tensor<f32>
  %mean = weir.read @mean : tensor<f32>
  %s, %n, %r, %mean1 = weir.microbatches 1 sliced(%x) carried(%mean)
      : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>, %old: tensor<f32>):
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
    %product = weir.mul %sum, %w : tensor<f32>
    weir.yield %product, %sum, %round, %sum : tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>
  }
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  weir.write @mean, %mean1 : tensor<f32>
  // CHECK: return %{{.*}}, %[[ZERO]]
  return %g, %r : tensor<f32>, tensor<i32>
}

// -----

weir.variable parameter @w : tensor<f32>

// Microbatches that add up a number never count nothing.
// CHECK-LABEL: func @sum_of_numbers
func.func @sum_of_numbers(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[COUNT:.*]] = weir.microbatches 2
  // CHECK-NOT: weir.select
  // CHECK: weir.div %{{.*}}, %[[COUNT]]
  // CHECK-NOT: weir.select
  %w = weir.read @w : tensor<f32>
  %s, %n = weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    %sum = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %product = weir.mul %sum, %w : tensor<f32>
    %two = weir.constant 2.0 : f32 -> tensor<f32>
    weir.yield %product, %two : tensor<f32>, tensor<f32>
  }
  %loss = weir.loss [1.0] sums(%s) counts(%n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g, %loss : tensor<f32>, tensor<f32>
}

// -----

// A gradient that no microbatches lead to stays where it is.
// CHECK-LABEL: func @none
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[S:.*]] = weir.reduce sum
  // CHECK-NEXT: %[[G:.*]] = weir.gradient %[[S]]
  // CHECK-NEXT: return %[[G]]
  %s = weir.reduce sum %x {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %s wrt(%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}
