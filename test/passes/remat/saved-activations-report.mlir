// RUN: weir-opt --weir-rematerialize %s | FileCheck %s

#forward = loc("m.weir":1:1)
#late = loc("m.weir":2:1)
#gradient = loc("the gradient"("m.weir":1:1))

// What nobody but a kernel of the forward computation reads, which runs behind the first gradients, is kept like any other.
// CHECK: #[[FORWARD:loc[0-9]*]] = loc("m.weir":1:1)
// CHECK: weir.keeping = [{{[^,]*}}, {{[0-9]+}}, {{[0-9]+}}, {{\[\[}}#[[FORWARD]], "exp", 16384, 1, {{[^,]*}}, "kept", ""]
// CHECK-LABEL: func @step
func.func @step(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}, tensor<64xf32> {weir.output = "z", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32> loc(#forward)
    %1 = weir.exp %0 : tensor<64x64xf32> loc(#forward)
    weir.yield %1 : tensor<64x64xf32>
  }
  %b = weir.kernel row over #weir.rows<64 x 64>(%a) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#forward)
    weir.yield %0 : tensor<64xf32>
  }
  %c = weir.kernel map(%b) {weir.result_phases = [#weir.phase<backward>]} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.exp %in : tensor<64xf32> loc(#gradient)
    weir.yield %0 : tensor<64xf32>
  }
  %d = weir.kernel row over #weir.rows<64 x 64>(%a) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32> loc(#late)
    weir.yield %0 : tensor<64xf32>
  }
  return %c, %d : tensor<64xf32>, tensor<64xf32>
}
