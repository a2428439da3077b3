// RUN: weir-opt --weir-count-flops %s | FileCheck %s

// Products by line, as often as there are microbatches; of nothing else, and nothing of an entry that has none.
// CHECK: #[[PRODUCT:.*]] = loc("a.weir":3:5)
// CHECK: #[[ATTENTION:.*]] = loc("a.weir":4:1)
// CHECK: #[[INSIDE:.*]] = loc("{{.*}}count-flops.mlir"
// CHECK: weir.model_flops = {init = [], step = {{\[\[}}#[[PRODUCT]], 1.200000e+02], [#[[ATTENTION]], 1.200000e+03], [#[[INSIDE]], 7.200000e+01]]}
module {
  func.func @init() {
    return
  }
  func.func @step(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>, %q: tensor<1x2x4x5xf32>) -> tensor<4x5xf32> {
    %y = weir.matmul %x, %w : tensor<4x3xf32>, tensor<3x5xf32> -> tensor<4x5xf32> loc("a.weir":3:5)
    %t = weir.tanh %y : tensor<4x5xf32> loc("a.weir":3:9)
    // Ten of sixteen pairs of each head, in two products forward, and twice that backward.
    %a, %l = weir.attention %q, %q, %q {causal, scale = 1.0} : tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32> -> tensor<1x2x4xf32> loc("a.weir":4:1)
    %g:3 = weir.attention_grad %q, %q, %q, %a, %l, %a {causal, scale = 1.0} : tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>, tensor<1x2x4xf32> loc("a.weir":4:1)
    %s = weir.microbatches 2 sliced(%x) carried() : (tensor<4x3xf32>) -> tensor<3x5xf32> {
    ^bb0(%round: tensor<i32>, %part: tensor<2x3xf32>):
      %z = weir.matmul %part, %part {transpose_lhs} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<3x3xf32>
      weir.yield %w : tensor<3x5xf32>
    }
    return %t : tensor<4x5xf32>
  }
}
