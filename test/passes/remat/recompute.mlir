// RUN: weir-opt --weir-rematerialize --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: weir-opt --weir-strategy="memory=51000" --weir-rematerialize --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: sed 's/\["h.0"\]/["h.1"]/' %s | weir-opt --weir-rematerialize --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=OTHER

#outside = loc("m.weir":1:1)
#inside = loc("h.0"("m.weir":2:1))
#deeper = loc("h.0.in"("m.weir":3:1))
#gradient = loc("the gradient"("h.0"("m.weir":2:1)))

// What is computed in a marked block is computed again for the first gradient that reads it, from what is kept. A kernel that
// computes something beside the block is kept.
// CHECK-NOT: weir.recompute
// CHECK: #[[OUTSIDE:loc[0-9]*]] = loc("m.weir":1:1)
// CHECK: #[[INSIDE:loc[0-9]*]] = loc("m.weir":2:1)
// CHECK: weir.keeping = [{{[^,]*}}, 49408, {{[0-9]+}}, {{\[\[}}#[[OUTSIDE]], "tanh", 16384, 1, {{[^,]*}}, "kept", ""], [#[[INSIDE]], "exp", 16384, 1, {{[^,]*}}, "again", "the plan says so"]
// CHECK-LABEL: func @step
// CHECK: %[[A:.*]] = weir.kernel map(%[[X:.*]]) : (tensor<64xf32>)
// CHECK: %[[B:.*]] = weir.kernel map(%[[A]])
// CHECK: %[[C:.*]] = weir.kernel map(%[[B]])
// CHECK: %[[D:.*]] = weir.kernel row {{.*}}(%[[C]])
// CHECK: %[[A2:.*]] = weir.kernel map(%[[X]])
// CHECK: %[[B2:.*]] = weir.kernel map(%[[A2]])
// CHECK: %[[E:.*]] = weir.kernel row {{.*}}(%[[D]], %[[C]], %[[B2]])
// CHECK: weir.kernel row {{.*}}(%[[E]], %[[A2]])
// OTHER-LABEL: func @step
// OTHER-COUNT-6: weir.kernel
// OTHER-NOT: weir.kernel
// OTHER-LABEL: func @eval
module attributes {weir.recompute = ["h.0"]} {
func.func @step(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.exp %0 : tensor<64x64xf32> loc(#inside)
    weir.yield %1 : tensor<64x64xf32>
  }
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.tanh %0 : tensor<64x64xf32> loc(#deeper)
    weir.yield %1 : tensor<64x64xf32>
  }
  %c = weir.kernel map(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.exp %in : tensor<64x64xf32> loc(#inside)
    %1 = weir.tanh %0 : tensor<64x64xf32> loc(#outside)
    weir.yield %1 : tensor<64x64xf32>
  }
  %d = weir.kernel row over #weir.rows<64 x 64>(%c) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %0 : tensor<64xf32>
  }
  %e = weir.kernel row over #weir.rows<64 x 64>(%d, %c, %b) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %first: tensor<64x64xf32>, %second: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#gradient)
    %1 = weir.mul %0, %first : tensor<64x64xf32> loc(#gradient)
    %2 = weir.mul %1, %second : tensor<64x64xf32> loc(#gradient)
    %3 = weir.reduce sum %2 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#gradient)
    weir.yield %3 : tensor<64xf32>
  }
  %f = weir.kernel row over #weir.rows<64 x 64>(%e, %a) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#gradient)
    %1 = weir.mul %0, %kept : tensor<64x64xf32> loc(#gradient)
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#gradient)
    weir.yield %2 : tensor<64xf32>
  }
  return %f : tensor<64xf32>
}

// Without gradients nothing is computed again.
// CHECK-LABEL: func @eval
// CHECK-COUNT-6: weir.kernel
// CHECK-NOT: weir.kernel
func.func @eval(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.exp %0 : tensor<64x64xf32> loc(#inside)
    weir.yield %1 : tensor<64x64xf32>
  }
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.tanh %0 : tensor<64x64xf32> loc(#deeper)
    weir.yield %1 : tensor<64x64xf32>
  }
  %c = weir.kernel map(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.exp %in : tensor<64x64xf32> loc(#inside)
    %1 = weir.tanh %0 : tensor<64x64xf32> loc(#outside)
    weir.yield %1 : tensor<64x64xf32>
  }
  %d = weir.kernel row over #weir.rows<64 x 64>(%c) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %0 : tensor<64xf32>
  }
  %e = weir.kernel row over #weir.rows<64 x 64>(%d, %c, %b) : (tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %first: tensor<64x64xf32>, %second: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.mul %0, %first : tensor<64x64xf32> loc(#outside)
    %2 = weir.mul %1, %second : tensor<64x64xf32> loc(#outside)
    %3 = weir.reduce sum %2 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %3 : tensor<64xf32>
  }
  %f = weir.kernel row over #weir.rows<64 x 64>(%e, %a) : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#outside)
    %1 = weir.mul %0, %kept : tensor<64x64xf32> loc(#outside)
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %2 : tensor<64xf32>
  }
  return %f : tensor<64xf32>
}
}

// -----

#outside = loc("m.weir":1:1)
#inside = loc("h.0"("m.weir":2:1))
#gradient = loc("the gradient"("h.0"("m.weir":2:1)))

// A kernel of views alone, such as one that repeats the heads of keys, is computed again with the block that its views are in.
// CHECK-LABEL: func @step
// CHECK: %[[A:.*]] = weir.kernel map(%[[X:.*]]) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: %[[B:.*]] = weir.kernel row {{.*}}(%[[A]])
// CHECK: %[[A2:.*]] = weir.kernel map(%[[X]]) {weir.again}
// CHECK: weir.kernel row {{.*}}(%[[B]], %[[A2]])
module attributes {weir.recompute = ["h.0"]} {
func.func @step(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#inside)
    weir.yield %0 : tensor<64x64xf32>
  }
  %b = weir.kernel row over #weir.rows<64 x 64>(%a) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#outside)
    weir.yield %0 : tensor<64xf32>
  }
  %c = weir.kernel row over #weir.rows<64 x 64>(%b, %a) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>, %kept: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#gradient)
    %1 = weir.mul %0, %kept : tensor<64x64xf32> loc(#gradient)
    %2 = weir.reduce sum %1 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#gradient)
    weir.yield %2 : tensor<64xf32>
  }
  return %c : tensor<64xf32>
}
}

// -----

// expected-error@+1 {{weir.recompute = 3 : i64: expected the paths of blocks}}
module attributes {weir.recompute = 3} {}
