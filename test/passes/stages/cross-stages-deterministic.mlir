// RUN: weir-opt --weir-strategy="mesh=pp=2 hosts=pp=2" --weir-cross-stages %s | FileCheck %s
// What is deterministic is added up as without stages.
#gradient = loc("the gradient"("m.weir":1:1))
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<4xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<4xf32>
  // CHECK-LABEL: func @in_order
  func.func @in_order(%x: tensor<8xf32>) -> tensor<4xf32> {
    %w0 = weir.read @w0 : tensor<4xf32>
    %w1 = weir.read @w1 : tensor<4xf32>
    // CHECK: %[[LOOP:.*]] = weir.microbatches 2
    // CHECK: %[[THERE:.*]] = weir.stage_transfer %{{.*}} from 1 to 0
    // CHECK: %[[BOTH:.*]] = weir.add %{{.*}}, %[[THERE]] {{[{].*}}weir.stage = 0 : i64}
    // CHECK: weir.yield %[[BOTH]]
    %g = weir.microbatches 2 sliced(%x) carried() : (tensor<8xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
      %h = weir.mul %part, %w0 {weir.stage = 0 : i64} : tensor<4xf32>
      %y = weir.mul %h, %w1 {weir.stage = 1 : i64} : tensor<4xf32>
      %last = weir.mul %y, %y {weir.stage = 1 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %first = weir.mul %h, %part {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      %both = weir.add %first, %last {weir.stage = 0 : i64, weir.phase = #weir.phase<backward>} : tensor<4xf32> loc(#gradient)
      weir.yield %both : tensor<4xf32>
    }
    %new = weir.sub %w0, %g : tensor<4xf32>
    weir.write @w0, %new : tensor<4xf32>
    return %new : tensor<4xf32>
  }
}
