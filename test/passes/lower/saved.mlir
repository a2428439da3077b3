// RUN: weir-opt %s --weir-lower-to-plan=target=cpu | FileCheck %s

// The second kernel is the last to read what the first one makes, and would write its result over
// it. Another section reads it later, though its weir.save stands in front of that kernel.
module attributes {weir.accumulate = 1 : i64, weir.batch = 1 : i64, weir.epochs = 0 : i64, weir.steps = 1 : i64} {
  // CHECK-LABEL: plan.entry @step
  // CHECK: %[[MADE:.*]] = plan.alloc 4 "exp"
  // CHECK: plan.launch @{{.*}}(%{{.*}}, %[[MADE]] :
  // CHECK: %[[OWN:.*]] = plan.alloc 4 "tanh"
  // CHECK: plan.launch @{{.*}}(%[[MADE]], %[[OWN]] :
  // CHECK: plan.launch @kernel_4 0(%[[MADE]],
  func.func @step(%x: tensor<2xf32> {weir.input = "x"}) -> (tensor<f32> {weir.output = "y", weir.part = "scalar"}, tensor<f32> {weir.output = "z", weir.part = "scalar"}) {
    %zero = weir.kernel map() : () -> tensor<f32> {
      %0 = weir.constant 0.0 : f32 -> tensor<f32>
      weir.yield %0 : tensor<f32>
    }
    %first = weir.microbatches 2 sliced(%x) carried(%zero) {weir.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>, weir.section = 0 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%round: tensor<i32>, %part: tensor<1xf32>, %sum: tensor<f32>):
      %made = weir.kernel map(%part) : (tensor<1xf32>) -> tensor<1xf32> {
      ^bb0(%a: tensor<1xf32>):
        %0 = weir.exp %a : tensor<1xf32>
        weir.yield %0 : tensor<1xf32>
      }
      weir.save %made number 1 : tensor<1xf32>
      %last = weir.kernel map(%made) : (tensor<1xf32>) -> tensor<1xf32> {
      ^bb0(%a: tensor<1xf32>):
        %0 = weir.tanh %a : tensor<1xf32>
        weir.yield %0 : tensor<1xf32>
      }
      %total = weir.kernel map(%last, %sum) : (tensor<1xf32>, tensor<f32>) -> tensor<f32> {
      ^bb0(%a: tensor<1xf32>, %b: tensor<f32>):
        %0 = weir.merge_dims %a {count = 1 : i64, first = 0 : i64} : tensor<1xf32> -> tensor<1xf32>
        %1 = weir.reduce sum %0 {axes = array<i64: 0>} : tensor<1xf32> -> tensor<f32>
        %2 = weir.add %1, %b : tensor<f32>
        weir.yield %2 : tensor<f32>
      }
      weir.yield %total : tensor<f32>
    }
    %second = weir.microbatches 2 sliced(%x) carried(%zero) {weir.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>, weir.section = 1 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> {
    ^bb0(%round: tensor<i32>, %part: tensor<1xf32>, %sum: tensor<f32>):
      %saved = weir.saved number 1 : tensor<1xf32>
      %total = weir.kernel map(%saved, %sum) : (tensor<1xf32>, tensor<f32>) -> tensor<f32> {
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
