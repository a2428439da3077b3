// RUN: weir-opt --weir-strategy="mesh=dp=2 zero=3" --weir-propagate-layouts --weir-partition %s | FileCheck %s

weir.variable parameter @w : tensor<4xf32>

// A parameter is gathered, its gradient reduced and scattered, and the loss reduced.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<2x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // CHECK: weir.all_gather {{.*}} over "dp" rows [2, 2] fullest 4 : tensor<2xf32> -> tensor<4xf32>
  // CHECK: weir.reduce_scatter {{.*}} over "dp" rows [2, 2] fullest 4 : tensor<4xf32> -> tensor<2xf32>
  // CHECK: weir.all_reduce {{.*}} over ["dp"] fullest 1 : tensor<f32> -> tensor<f32>
  %w = weir.read @w : tensor<4xf32>
  %wide = weir.broadcast %w {dimensions = array<i64: 1>} : tensor<4xf32> -> tensor<2x4xf32>
  %y = weir.mul %x, %wide : tensor<2x4xf32>
  %gradient = weir.reduce sum %y {axes = array<i64: 0>} : tensor<2x4xf32> -> tensor<4xf32>
  weir.write @w, %gradient : tensor<4xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<2x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// The gradient of a parameter is reduced as soon as it is computed, though it is written at the end:
// from then on, the rank holds its shard alone.
// CHECK-LABEL: func @reduced_at_once
func.func @reduced_at_once(%x: tensor<2x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // CHECK: %[[GRADIENT:.*]] = weir.reduce sum
  // CHECK-NEXT: weir.reduce_scatter %[[GRADIENT]] over "dp"
  // CHECK: weir.exp
  // CHECK: weir.write @w
  %gradient = weir.reduce sum %x {axes = array<i64: 0>, weir.phase = #weir.phase<backward>} : tensor<2x4xf32> -> tensor<4xf32>
  %y = weir.exp %x : tensor<2x4xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<2x4xf32> -> tensor<f32>
  weir.write @w, %gradient : tensor<4xf32>
  return %loss : tensor<f32>
}
