// RUN: weir-opt --weir-strategy="mesh=pp=2" --weir-cross-stages --split-input-file %s | FileCheck %s

// Gradients of a parameter that two stages read are summed where they are made: one crosses once.
#gradient = loc("the gradient"("m.weir":1:1))
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<4xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @tied
  func.func @tied(%x: tensor<8xf32>) -> tensor<4xf32> {
    %w0 = weir.read @w0 : tensor<4xf32>
    %w1 = weir.read @w1 : tensor<4xf32>
    // CHECK: %[[LOOP:.*]]:3 = weir.microbatches 2
    // CHECK: %[[Y:.*]] = weir.mul %{{.*}} {{[{].*}}weir.stage = 1 : i64}
    // CHECK: %[[LAST:.*]] = weir.mul %[[Y]], %[[Y]] {{[{].*}}weir.stage = 1 : i64}
    // CHECK: %[[FIRST:.*]] = weir.mul %{{.*}} {{[{].*}}weir.stage = 0 : i64}
    // CHECK-NOT: weir.add
    // CHECK: weir.yield %[[FIRST]], %[[Y]], %[[LAST]]
    // CHECK: %[[THERE:.*]] = weir.stage_transfer %[[LOOP]]#2 from 1 to 0
    // CHECK: weir.add %[[LOOP]]#0, %[[THERE]] {{[{].*}}weir.stage = 0 : i64}
    %g:2 = weir.microbatches 2 sliced(%x) carried() : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
      %h = weir.mul %part, %w0 {weir.stage = 0 : i64} : tensor<4xf32>
      %y = weir.mul %h, %w1 {weir.stage = 1 : i64} : tensor<4xf32>
      %last = weir.mul %y, %y {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %first = weir.mul %h, %part {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %both = weir.add %first, %last {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      weir.yield %both, %y : tensor<4xf32>, tensor<4xf32>
    }
    %new = weir.sub %w0, %g#0 : tensor<4xf32>
    weir.write @w0, %new : tensor<4xf32>
    return %g#1 : tensor<4xf32>
  }
}

// -----

// However many are added up here besides.
#gradient = loc("the gradient"("m.weir":1:1))
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<4xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @several
  func.func @several(%x: tensor<8xf32>) -> tensor<4xf32> {
    %w0 = weir.read @w0 : tensor<4xf32>
    %w1 = weir.read @w1 : tensor<4xf32>
    // CHECK: %[[LOOP:.*]]:2 = weir.microbatches 2
    // CHECK-NOT: weir.stage_transfer %{{.*}} from 1 to 0
    // CHECK: %[[HERE:.*]] = weir.add %{{.*}}, %{{.*}} {{[{].*}}weir.stage = 0 : i64}
    // CHECK: weir.yield %[[HERE]], %{{.*}}
    // CHECK: %[[THERE:.*]] = weir.stage_transfer %[[LOOP]]#1 from 1 to 0
    // CHECK: weir.add %[[LOOP]]#0, %[[THERE]] {{[{].*}}weir.stage = 0 : i64}
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<8xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
      %h = weir.mul %part, %w0 {weir.stage = 0 : i64} : tensor<4xf32>
      %y = weir.mul %h, %w1 {weir.stage = 1 : i64} : tensor<4xf32>
      %last = weir.exp %y {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %first = weir.exp %h {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %second = weir.neg %h {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %two = weir.add %last, %second {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %all = weir.add %two, %first {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      weir.yield %all : tensor<4xf32>
    }
    %new = weir.sub %w0, %g : tensor<4xf32>
    weir.write @w0, %new : tensor<4xf32>
    return %new : tensor<4xf32>
  }
}

// -----

// Figures, which are no gradients, are added up as without stages.
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<4xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @figures
  func.func @figures(%x: tensor<8xf32>) -> tensor<4xf32> {
    %w0 = weir.read @w0 : tensor<4xf32>
    %w1 = weir.read @w1 : tensor<4xf32>
    // CHECK: %[[LOOP:.*]] = weir.microbatches 2
    // CHECK: weir.stage_transfer
    // CHECK: weir.stage_transfer
    // CHECK: %[[ALL:.*]] = weir.add
    // CHECK: weir.yield %[[ALL]]
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<8xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
      %h = weir.mul %part, %w0 {weir.stage = 0 : i64} : tensor<4xf32>
      %y = weir.mul %h, %w1 {weir.stage = 1 : i64} : tensor<4xf32>
      %last = weir.exp %y {weir.stage = 1 : i64} : tensor<4xf32>
      %first = weir.exp %h {weir.stage = 0 : i64} : tensor<4xf32>
      %all = weir.add %last, %first {weir.stage = 0 : i64} : tensor<4xf32>
      weir.yield %all : tensor<4xf32>
    }
    return %g : tensor<4xf32>
  }
}

// -----

// What was rounded crosses so.
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<4xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @narrow
  func.func @narrow(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w0 = weir.read @w0 : tensor<4xf32>
    %w1 = weir.read @w1 : tensor<4xf32>
    %h = weir.mul %x, %w0 {weir.stage = 0 : i64} : tensor<4xf32>
    // CHECK: %[[LOW:.*]] = weir.cast %{{.*}} {{[{].*}}weir.stage = 0 : i64} : tensor<4xf32> -> tensor<4xbf16>
    // CHECK: %[[THERE:.*]] = weir.stage_transfer %[[LOW]] from 0 to 1 number 1 : tensor<4xbf16>
    // CHECK: %[[WIDE:.*]] = weir.cast %[[THERE]] {{[{].*}}weir.stage = 1 : i64} : tensor<4xbf16> -> tensor<4xf32>
    // CHECK: weir.mul %[[WIDE]]
    %low = weir.cast %h {weir.stage = 0 : i64} : tensor<4xf32> -> tensor<4xbf16>
    %wide = weir.cast %low {weir.stage = 0 : i64} : tensor<4xbf16> -> tensor<4xf32>
    %y = weir.mul %wide, %w1 {weir.stage = 1 : i64} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
