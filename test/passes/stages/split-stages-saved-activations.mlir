// RUN: weir-opt --weir-strategy="schedule=1f1b" --weir-split-stages --split-input-file %s | FileCheck %s

// What follows element by element from what is narrower is computed again: of the product its
// narrow numbers are kept, and not their tanh. What a product reads of it is in memory anyway.
#gradient = loc("the gradient"("m.weir":1:1))
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
  // CHECK-LABEL: func @narrow
  func.func @narrow(%x: tensor<128x64xf32>) -> tensor<64x64xf32> {
    %w1 = weir.read @w1 : tensor<64x64xf32>
    // CHECK: weir.section = 0 : i64
    // CHECK: %[[LOW:.*]] = weir.cast %{{.*}} : tensor<64x64xf32> -> tensor<64x64xbf16>
    // CHECK: %[[Y:.*]] = weir.tanh
    // CHECK-NOT: weir.save %[[Y]]
    // CHECK: weir.save %[[LOW]]
    // CHECK-NOT: weir.save %[[Y]]
    // CHECK: weir.section = 1 : i64
    // CHECK: %[[SAVED:.*]] = weir.saved number {{.*}} : tensor<64x64xbf16>
    // CHECK: weir.cast %[[SAVED]] : tensor<64x64xbf16> -> tensor<64x64xf32>
    // CHECK: weir.tanh
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<128x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<64x64xf32>):
      %h = weir.exp %part {weir.stage = 0 : i64} : tensor<64x64xf32>
      %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<64x64xf32>
      %product = weir.matmul %there, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %low = weir.cast %product {weir.stage = 1 : i64} : tensor<64x64xf32> -> tensor<64x64xbf16>
      %wide = weir.cast %low {weir.stage = 1 : i64} : tensor<64x64xbf16> -> tensor<64x64xf32>
      %y = weir.tanh %wide {weir.stage = 1 : i64} : tensor<64x64xf32>
      %z = weir.matmul %y, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %square = weir.mul %y, %y {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xf32> loc(#gradient)
      %scaled = weir.mul %square, %wide {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xf32> loc(#gradient)
      %d = weir.mul %scaled, %z {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xf32> loc(#gradient)
      weir.yield %d : tensor<64x64xf32>
    }
    %all = weir.stage_transfer %g from 1 to -1 number 2 : tensor<64x64xf32>
    return %all : tensor<64x64xf32>
  }
}

// -----

// A truth value takes a byte, and drawing it again sixty operations: it is kept where it was drawn.
#gradient = loc("the gradient"("m.weir":1:1))
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
  // CHECK-LABEL: func @drawn
  func.func @drawn(%x: tensor<128x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
    %w1 = weir.read @w1 : tensor<64x64xf32>
    // CHECK: weir.section = 0 : i64
    // CHECK: weir.random
    // CHECK: %[[MASK:.*]] = weir.compare
    // CHECK: weir.save %[[MASK]]
    // CHECK: weir.section = 1 : i64
    // CHECK-NOT: weir.random
    // CHECK: weir.saved {{.*}} : tensor<64x64xi1>
    // CHECK-NOT: weir.random
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<128x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<64x64xf32>):
      %h = weir.exp %part {weir.stage = 0 : i64} : tensor<64x64xf32>
      %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<64x64xf32>
      %zero = weir.constant 0.0 : f32 -> tensor<64x64xf32>
      %half = weir.constant 0.5 : f32 -> tensor<64x64xf32>
      %drawn = weir.random uniform seed %n step %n round %round {key = 1 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
      %keeps = weir.compare lt %drawn, %half : tensor<64x64xf32> -> tensor<64x64xi1>
      %y = weir.select %keeps, %there, %zero {weir.stage = 1 : i64} : tensor<64x64xi1>, tensor<64x64xf32>
      %z = weir.matmul %y, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %d = weir.select %keeps, %z, %zero {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xi1>, tensor<64x64xf32> loc(#gradient)
      weir.yield %d : tensor<64x64xf32>
    }
    %all = weir.stage_transfer %g from 1 to -1 number 2 : tensor<64x64xf32>
    return %all : tensor<64x64xf32>
  }
}

// -----

// A sum that is added to behind a product is in memory until then: kept, and not what it is of.
#gradient = loc("the gradient"("m.weir":1:1))
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
  // CHECK-LABEL: func @sums
  func.func @sums(%x: tensor<128x64xf32>) -> tensor<64x64xf32> {
    %w1 = weir.read @w1 : tensor<64x64xf32>
    // CHECK: weir.section = 0 : i64
    // CHECK: %[[FIRST:.*]] = weir.add
    // CHECK: %[[SECOND:.*]] = weir.add %[[FIRST]]
    // CHECK: weir.save %[[FIRST]]
    // CHECK: weir.section = 1 : i64
    // CHECK-NOT: weir.add
    // CHECK: return
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<128x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<64x64xf32>):
      %h = weir.exp %part {weir.stage = 0 : i64} : tensor<64x64xf32>
      %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<64x64xf32>
      %a = weir.matmul %there, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %al = weir.cast %a {weir.stage = 1 : i64} : tensor<64x64xf32> -> tensor<64x64xbf16>
      %aw = weir.cast %al {weir.stage = 1 : i64} : tensor<64x64xbf16> -> tensor<64x64xf32>
      %first = weir.add %there, %aw {weir.stage = 1 : i64} : tensor<64x64xf32>
      %b = weir.matmul %first, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %second = weir.add %first, %b {weir.stage = 1 : i64} : tensor<64x64xf32>
      %c = weir.matmul %second, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %p = weir.mul %first, %c {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xf32> loc(#gradient)
      weir.yield %p : tensor<64x64xf32>
    }
    %all = weir.stage_transfer %g from 1 to -1 number 2 : tensor<64x64xf32>
    return %all : tensor<64x64xf32>
  }
}

// -----

// What is the same for all microbatches is made again for each, of nothing.
#gradient = loc("the gradient"("m.weir":1:1))
module attributes {weir.mesh = #weir.mesh<pp = 2>, weir.rank = 1 : i64} {
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
  // CHECK-LABEL: func @constant_mask
  func.func @constant_mask(%x: tensor<128x64xf32>) -> tensor<64x64xf32> {
    %w1 = weir.read @w1 : tensor<64x64xf32>
    // CHECK-NOT: weir.save {{.*}}xi1>
    // CHECK: weir.section = 1 : i64
    // CHECK: weir.compare
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<128x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<64x64xf32>):
      %h = weir.exp %part {weir.stage = 0 : i64} : tensor<64x64xf32>
      %there = weir.stage_transfer %h from 0 to 1 number 1 : tensor<64x64xf32>
      %zero = weir.constant 0.0 : f32 -> tensor<64x64xf32>
      %row = weir.iota {dimension = 0 : i64} -> tensor<64x64xi32>
      %column = weir.iota {dimension = 1 : i64} -> tensor<64x64xi32>
      %causal = weir.compare le %column, %row : tensor<64x64xi32> -> tensor<64x64xi1>
      %z = weir.matmul %there, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %y = weir.select %causal, %z, %zero {weir.stage = 1 : i64} : tensor<64x64xi1>, tensor<64x64xf32>
      %q = weir.matmul %y, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %d = weir.select %causal, %q, %zero {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<64x64xi1>, tensor<64x64xf32> loc(#gradient)
      weir.yield %d : tensor<64x64xf32>
    }
    %all = weir.stage_transfer %g from 1 to -1 number 2 : tensor<64x64xf32>
    return %all : tensor<64x64xf32>
  }
}
