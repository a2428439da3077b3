// RUN: not weir-opt --weir-strategy="memory=20000" --weir-rematerialize --split-input-file %s 2>&1 | FileCheck %s

// What takes most where most is alive is named once for each place, by what lies there then: not what was in the place of %c before it.
// CHECK: error: @places does not fit in 20.0 kB: 0.8 kB is always in use (prefetched batches 0.8 kB), and the smallest memory plan found needs another 32.8 kB
// CHECK-DAG: m.weir:3:1: note: this takes 16.4 kB{{$}}
// CHECK-DAG: m.weir:4:1: note: this takes 16.4 kB{{$}}
// CHECK-NOT: m.weir:{{[12]}}:1
func.func @places(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64x64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.exp %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  } loc("m.weir":1:1)
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.tanh %in : tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  } loc("m.weir":2:1)
  %c = weir.kernel map(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.exp %in : tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  } loc("m.weir":3:1)
  %d = weir.kernel map(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  } loc("m.weir":4:1)
  return %d : tensor<64x64xf32>
}

// -----

// What is computed again is named by the line that computes it.
// CHECK: error: @again does not fit in 20.0 kB: {{.*}}: it recomputes 2 kernels
// CHECK: m.weir:3:1: note: this takes 49.2 kB{{$}}
// CHECK: m.weir:1:1: note: this takes 16.4 kB where it is recomputed
// CHECK: note: --memory 66{{[0-9]+}} is enough: it recomputes {{[12]}} kernel
func.func @again(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64x192xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.exp %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  } loc("m.weir":1:1)
  %b = weir.kernel map(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.transpose %in {permutation = array<i64: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = weir.tanh %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  } loc("m.weir":2:1)
  %c = weir.kernel map(%b) : (tensor<64x64xf32>) -> tensor<64x192xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0, 2>} : tensor<64x64xf32> -> tensor<64x3x64xf32>
    %1 = weir.merge_dims %0 {first = 1 : i64, count = 2 : i64} : tensor<64x3x64xf32> -> tensor<64x192xf32>
    weir.yield %1 : tensor<64x192xf32>
  } loc("m.weir":3:1)
  %d = weir.kernel row over #weir.rows<64 x 192>(%c) : (tensor<64x192xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x192xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x192xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  } loc("m.weir":4:1)
  %e = weir.kernel row over #weir.rows<64 x 192>(%c) : (tensor<64x192xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x192xf32>):
    %0 = weir.reduce max %in {axes = array<i64: 1>} : tensor<64x192xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  } loc("m.weir":5:1)
  %f = weir.kernel map(%a, %d, %e) : (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64x192xf32> {
  ^bb0(%in: tensor<64x64xf32>, %first: tensor<64xf32>, %second: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0, 2>} : tensor<64x64xf32> -> tensor<64x3x64xf32>
    %1 = weir.merge_dims %0 {first = 1 : i64, count = 2 : i64} : tensor<64x3x64xf32> -> tensor<64x192xf32>
    %2 = weir.add %first, %second : tensor<64xf32>
    %3 = weir.broadcast %2 {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x192xf32>
    %4 = weir.add %1, %3 : tensor<64x192xf32>
    weir.yield %4 : tensor<64x192xf32>
  } loc("m.weir":6:1)
  return %f : tensor<64x192xf32>
}

// -----

// What is there throughout is told by what it is, and by the lines that have most of it.
// CHECK: error: does not fit in 20.0 kB: parameters 16.4 kB and optimizer state 32.8 kB alone need 49.2 kB
// CHECK: m.weir:2:1: note: optimizer state takes 32.8 kB here
// CHECK: m.weir:1:1: note: parameters take 16.4 kB here
// CHECK: note: --memory 49{{[0-9]+}} is enough
weir.variable parameter @w : tensor<64x64xf32> loc("m.weir":1:1)
weir.variable optimizer @m : tensor<64x64xf32> loc("m.weir":2:1)
weir.variable optimizer @v : tensor<64x64xf32> loc("m.weir":2:1)
func.func @none() -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %w = weir.read @w : tensor<64x64xf32>
  %a = weir.kernel row over #weir.rows<64 x 64>(%w) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  return %a : tensor<64xf32>
}
