// RUN: weir-opt %s --weir-lower-to-plan=target=cpu | FileCheck %s

// Sections of the same microbatches run as one, where the last of them stands. The kernel between
// them comes first then, and must not write its result over what the first section reads.
// CHECK-LABEL: plan.entry @step
// CHECK: %[[P:.*]] = plan.use @p
// CHECK: %[[NEW:.*]] = plan.alloc 4 "exp"
// CHECK: plan.launch @{{.*}}(%[[P]], %[[NEW]] :
// CHECK: plan.copy %[[NEW]] to %[[P]]
module attributes {weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  weir.variable parameter @p : tensor<1xf32>
  func.func @step(%x: tensor<2xf32> {weir.input = "x"}) -> (tensor<f32> {weir.output = "y", weir.part = "scalar"}, tensor<f32> {weir.output = "z", weir.part = "scalar"}) {
    %p = weir.read @p : tensor<1xf32>
    %zero = weir.kernel map() : () -> tensor<f32> {
      %0 = weir.constant 0.0 : f32 -> tensor<f32>
      weir.yield %0 : tensor<f32>
    }
    %first = weir.microbatches 2 sliced(%x) carried(%zero) {weir.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>, weir.section = 0 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%round: tensor<i32>, %part: tensor<1xf32>, %sum: tensor<f32>):
      %total = weir.kernel map(%p, %sum) : (tensor<1xf32>, tensor<f32>) -> tensor<f32> {
      ^bb0(%a: tensor<1xf32>, %b: tensor<f32>):
        %1 = weir.reduce sum %a {axes = array<i64: 0>} : tensor<1xf32> -> tensor<f32>
        %2 = weir.add %1, %b : tensor<f32>
        weir.yield %2 : tensor<f32>
      }
      weir.yield %total : tensor<f32>
    }
    %q = weir.kernel map(%p) : (tensor<1xf32>) -> tensor<1xf32> {
      ^bb0(%a: tensor<1xf32>):
        %0 = weir.exp %a : tensor<1xf32>
        weir.yield %0 : tensor<1xf32>
    }
    weir.write @p, %q : tensor<1xf32>
    %second = weir.microbatches 2 sliced(%x) carried(%zero) {weir.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>, weir.section = 1 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%round: tensor<i32>, %part: tensor<1xf32>, %sum: tensor<f32>):
      %total = weir.kernel map(%part, %sum) : (tensor<1xf32>, tensor<f32>) -> tensor<f32> {
      ^bb0(%a: tensor<1xf32>, %b: tensor<f32>):
        %1 = weir.reduce sum %a {axes = array<i64: 0>} : tensor<1xf32> -> tensor<f32>
        %2 = weir.add %1, %b : tensor<f32>
        weir.yield %2 : tensor<f32>
      }
      weir.yield %total : tensor<f32>
    }
    return %first, %second : tensor<f32>, tensor<f32>
  }
}
