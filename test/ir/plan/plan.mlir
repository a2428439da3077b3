// RUN: weir-opt %s | weir-opt | FileCheck %s

// CHECK: plan.variable parameter @w at 0 : tensor<16xf32>
plan.variable parameter @w at 0 : tensor<16xf32>

// CHECK: plan.kernel map @kernel_0 attributes {bytes = 192 : i64, flops = 16 : i64,
// CHECK-SAME: parts = [#plan.part<"" : 4>, #plan.part<"_sum" : 1>],
// CHECK-SAME: takes = [#plan.operand<read 64>, #plan.operand<write 64>, #plan.operand<write 128>], thread_scratch = 0 : i64}
plan.kernel map @kernel_0 attributes {parts = [#plan.part<"" : 4>, #plan.part<"_sum" : 1>],
    takes = [#plan.operand<read 64>, #plan.operand<write 64>, #plan.operand<write 128>],
    thread_scratch = 0 : i64, flops = 16 : i64, bytes = 192 : i64} {
^bb0(%x: tensor<16xf32>):
  %y = weir.kernel map(%x) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %n = weir.neg %a : tensor<16xf32>
    weir.yield %n : tensor<16xf32>
  }
}

// CHECK-LABEL: plan.entry @step
plan.entry @step {
  // CHECK: %[[W:.*]] = plan.use @w : <persistent>
  %w = plan.use @w : !plan.buffer<persistent>
  // CHECK: plan.alloc 64 "input" at 64 from 0 to 9 : <scratch>
  %x = plan.alloc 64 "input" at 64 from 0 to 9 : !plan.buffer<scratch>
  // CHECK: plan.alloc 512 "result" : <scratch>
  %y = plan.alloc 512 "result" : !plan.buffer<scratch>
  %space = plan.alloc 128 "partial sums" : !plan.buffer<scratch>
  // CHECK: plan.alloc 64 "staged" : <pinned>
  %staged = plan.alloc 64 "staged" : !plan.buffer<pinned>
  %round = plan.alloc 4 "round" : !plan.buffer<scratch>
  // CHECK: %[[DONE:.*]] = plan.event
  %done = plan.event
  // CHECK: plan.port input "x" %{{.*}} {limit = 5 : i64, limit_config = "vocab"} : tensor<16xi32> in <scratch>
  plan.port input "x" %x {limit = 5 : i64, limit_config = "vocab"} : tensor<16xi32> in !plan.buffer<scratch>
  // CHECK: plan.launch @kernel_0 0(%{{.*}}, %{{.*}}, %{{.*}} : !plan.buffer<scratch>, !plan.buffer<scratch>, !plan.buffer<scratch>)
  plan.launch @kernel_0 0(%x, %y, %space : !plan.buffer<scratch>, !plan.buffer<scratch>, !plan.buffer<scratch>)
  // CHECK: plan.launch @kernel_0 1({{.*}}) {queue = 1 : i64}
  plan.launch @kernel_0 1(%x, %y, %space : !plan.buffer<scratch>, !plan.buffer<scratch>, !plan.buffer<scratch>) {queue = 1 : i64}
  // What is as it is by default is not printed.
  // CHECK: plan.call <product m = 4, n = 4, k = 4, a_row = 4, a_column = 1, b_row = 4, b_column = 1, c_row = 4, relu = true, tile_m = 4, tile_n = 4>
  plan.call <product batch = 1, m = 4, n = 4, k = 4, a_row = 4, a_column = 1, b_row = 4, b_column = 1, c_row = 4,
      bias = false, relu = true, tile_m = 4, tile_n = 4>(%w, %w, %y
      : !plan.buffer<persistent>, !plan.buffer<persistent>, !plan.buffer<scratch>)
  // CHECK: plan.call <convolution computes = backward_weight, images = 1, channels = 2, filters = 2, groups = 2, size = [4], window = [3], strides = [1], padding = [1], dilation = [1], tile_images = 1>
  plan.call <convolution computes = backward_weight, images = 1, channels = 2, filters = 2, groups = 2, size = [4],
      window = [3], strides = [1], padding = [1], dilation = [1], tile_images = 1>(%x, %y, %x
      : !plan.buffer<scratch>, !plan.buffer<scratch>, !plan.buffer<scratch>)
  // CHECK: plan.call <max_pooling planes = 3, size = [2, 2], window = [2, 1], strides = [1, 2], tile_planes = 2>
  plan.call <max_pooling planes = 3, size = [2, 2], window = [2, 1], strides = [1, 2], tile_planes = 2>(%x, %y
      : !plan.buffer<scratch>, !plan.buffer<scratch>)
  // CHECK: plan.record %[[DONE]] {queue = 1 : i64}
  plan.record %done {queue = 1 : i64}
  // CHECK: plan.loop 2 round %{{.*}} : <scratch> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: !plan.index):
  plan.loop 2 round %round : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    // CHECK: plan.loop 3 round %{{.*}} {queue = 2 : i64}
    plan.loop 3 round %round attributes {queue = 2 : i64} : !plan.buffer<scratch> {
    ^bb0(%j: !plan.index):
      // CHECK: %[[PART:.*]] = plan.part %{{.*}} at 128 moving with %[[I]], %{{.*}} {moduli = array<i64: 2, 0>, strides = array<i64: 64, -32>} : <scratch>
      %part = plan.part %y at 128 moving with %i, %j {strides = array<i64: 64, -32>, moduli = array<i64: 2, 0>} : !plan.buffer<scratch>
      // CHECK: plan.copy %[[PART]] to %[[W]] 16 : <scratch> to <persistent>
      plan.copy %part to %w 16 : !plan.buffer<scratch> to !plan.buffer<persistent>
      // CHECK: plan.collective all_to_all over "dp" %{{.*}} to %{{.*}} bytes [8, 16] own 8 of f32 {number = 3 : i64} : <scratch> to <scratch>
      plan.collective all_to_all over "dp" %y to %y bytes [8, 16] own 8 of f32 {number = 3 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
      // CHECK: plan.send %{{.*}} 16 of f32 over "pp" peer 1 number 3 round 2 : <scratch>
      plan.send %y 16 of f32 over "pp" peer 1 number 3 round 2 : !plan.buffer<scratch>
      // CHECK: plan.receive %{{.*}} 16 of f32 over "pp" peer 1 number 4 round 0 : <scratch>
      plan.receive %y 16 of f32 over "pp" peer 1 number 4 round 0 : !plan.buffer<scratch>
      // CHECK: plan.wait %[[DONE]] {queue = 2 : i64}
      plan.wait %done {queue = 2 : i64}
    }
  }
  // CHECK: plan.port sum "loss" %{{.*}} {term = 1 : i64, weight = 2.000000e+00 : f64} : tensor<f32> in <scratch>
  plan.port sum "loss" %y {term = 1 : i64, weight = 2.0 : f64} : tensor<f32> in !plan.buffer<scratch>
}

// CHECK: plan.blob dense_resource<code> : tensor<4xui8>
plan.blob dense_resource<code> : tensor<4xui8>

{-#
  dialect_resources: {
    builtin: {
      code: "0x1000000001020304"
    }
  }
#-}
