// RUN: weir-opt --weir-order-kernels --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-order-kernels --weir-rematerialize --split-input-file %s | FileCheck %s

// What makes more than it lets go waits for whoever reads it, with what shows its result; what lets go of more than it makes does
// not wait.
// CHECK-LABEL: func @both
// CHECK: %[[BIG:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: %[[SUM:.*]] = weir.kernel row over #weir.rows<64 x 64>(%[[BIG]])
// CHECK: %[[OTHER:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<4096xf32>
// CHECK: %[[LATE:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: %[[SHOWN:.*]] = weir.merge_dims %[[LATE]]
// CHECK-NEXT: weir.kernel map(%[[SHOWN]], %[[OTHER]], %[[SUM]])
func.func @both(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<4096xf32> {weir.output = "y", weir.part = "tensor"}) {
  %late = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %shown = weir.merge_dims %late {first = 0 : i64, count = 2 : i64} : tensor<64x64xf32> -> tensor<4096xf32>
  %big = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 1>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.exp %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  %other = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<4096xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 1>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.tanh %0 : tensor<64x64xf32>
    %2 = weir.merge_dims %1 {first = 0 : i64, count = 2 : i64} : tensor<64x64xf32> -> tensor<4096xf32>
    weir.yield %2 : tensor<4096xf32>
  }
  %sum = weir.kernel row over #weir.rows<64 x 64>(%big) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  %y = weir.kernel map(%shown, %other, %sum) : (tensor<4096xf32>, tensor<4096xf32>, tensor<64xf32>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>, %c: tensor<64xf32>):
    %0 = weir.broadcast %c {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.merge_dims %0 {first = 0 : i64, count = 2 : i64} : tensor<64x64xf32> -> tensor<4096xf32>
    %2 = weir.add %a, %b : tensor<4096xf32>
    %3 = weir.mul %2, %1 : tensor<4096xf32>
    weir.yield %3 : tensor<4096xf32>
  }
  return %y : tensor<4096xf32>
}

// -----

// Where nothing is gained the order is what it was: the peak is elsewhere.
// CHECK-LABEL: func @same
// CHECK: %[[FIRST:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: %[[SECOND:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: weir.kernel map(%[[FIRST]], %[[SECOND]])
func.func @same(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64x64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %a = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %b = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.exp %in : tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  %y = weir.kernel map(%a, %b) : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%one: tensor<64x64xf32>, %two: tensor<64xf32>):
    %0 = weir.broadcast %two {dimensions = array<i64: 1>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.add %one, %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  return %y : tensor<64x64xf32>
}

// -----

weir.variable state @v : tensor<64xf32>

// What reads a variable stays ahead of its next value, whatever waiting would spare.
// CHECK-LABEL: func @variable
// CHECK: %[[READ:.*]] = weir.read @v
// CHECK: %[[OLD:.*]] = weir.kernel map(%[[READ]])
// CHECK: %[[BIG:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: weir.kernel row over #weir.rows<64 x 64>(%[[BIG]])
// CHECK: weir.kernel map(%[[OLD]]
func.func @variable(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64x64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %v = weir.read @v : tensor<64xf32>
  %old = weir.kernel map(%v) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %big = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 1>} : tensor<64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %sum = weir.kernel row over #weir.rows<64 x 64>(%big) : (tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  %y = weir.kernel map(%old, %sum) : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%one: tensor<64x64xf32>, %two: tensor<64xf32>):
    %0 = weir.broadcast %two {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    %1 = weir.add %one, %0 : tensor<64x64xf32>
    weir.yield %1 : tensor<64x64xf32>
  }
  weir.write @v, %sum : tensor<64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// What a loop reads from outside waits until ahead of the loop.
// CHECK-LABEL: func @loop
// CHECK: weir.kernel row
// CHECK: %[[LATE:.*]] = weir.kernel map(%{{.*}}) : (tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: weir.microbatches
// CHECK: weir.kernel row over #weir.rows<64 x 64>(%[[LATE]]
func.func @loop(%x: tensor<64xf32> {weir.input = "x"}, %rows: tensor<128x64xf32> {weir.input = "rows"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %late = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 0>} : tensor<64xf32> -> tensor<64x64xf32>
    weir.yield %0 : tensor<64x64xf32>
  }
  %big = weir.kernel map(%x) : (tensor<64xf32>) -> tensor<512x64xf32> {
  ^bb0(%in: tensor<64xf32>):
    %0 = weir.broadcast %in {dimensions = array<i64: 1>} : tensor<64xf32> -> tensor<512x64xf32>
    weir.yield %0 : tensor<512x64xf32>
  }
  %sum = weir.kernel row over #weir.rows<512 x 64>(%big) : (tensor<512x64xf32>) -> tensor<64xf32> {
  ^bb0(%in: tensor<512x64xf32>):
    %0 = weir.reduce sum %in {axes = array<i64: 0>} : tensor<512x64xf32> -> tensor<64xf32>
    weir.yield %0 : tensor<64xf32>
  }
  %y = weir.microbatches 2 sliced(%rows) carried(%sum) : (tensor<128x64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<64x64xf32>, %before: tensor<64xf32>):
    %next = weir.kernel row over #weir.rows<64 x 64>(%late, %part, %before) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64xf32>):
      %0 = weir.mul %a, %b : tensor<64x64xf32>
      %1 = weir.reduce sum %0 {axes = array<i64: 1>} : tensor<64x64xf32> -> tensor<64xf32>
      %2 = weir.add %1, %c : tensor<64xf32>
      weir.yield %2 : tensor<64xf32>
    }
    weir.yield %next : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

weir.variable state @w : tensor<64xf32>

// Where nothing is computed there is nothing to order.
// CHECK-LABEL: func @none
func.func @none(%x: tensor<64xf32> {weir.input = "x"}) -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  return %x : tensor<64xf32>
}
// CHECK-LABEL: func @step
func.func @step() -> (tensor<64xf32> {weir.output = "y", weir.part = "tensor"}) {
  %w = weir.read @w : tensor<64xf32>
  return %w : tensor<64xf32>
}
