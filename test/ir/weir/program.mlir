// RUN: weir-opt %s | weir-opt | FileCheck %s

// CHECK: weir.variable parameter @w : tensor<4xf32>
weir.variable parameter @w : tensor<4xf32>
// CHECK: weir.variable state @mean : tensor<f32>
weir.variable state @mean : tensor<f32>
// CHECK: weir.variable optimizer @"adamw.m/w" : tensor<4xf32>
weir.variable optimizer @"adamw.m/w" : tensor<4xf32>
// CHECK: weir.variable optimizer @far on host : tensor<4xf32>
weir.variable optimizer @far on host : tensor<4xf32>
// CHECK: weir.variable run @step : tensor<i32>
weir.variable run @step : tensor<i32>

// CHECK-LABEL: @step_entry
func.func @step_entry(%x: tensor<6x4xf32>) -> tensor<f32> {
  // CHECK: weir.read @w : tensor<4xf32>
  %w = weir.read @w : tensor<4xf32>
  // CHECK: %[[FAR:.*]] = weir.read @far : tensor<4xf32>
  // CHECK-NEXT: weir.reload %[[FAR]] : tensor<4xf32>
  %far = weir.read @far : tensor<4xf32>
  %near = weir.reload %far : tensor<4xf32>
  // CHECK: weir.offload %{{.*}} : tensor<6x4xf32>
  %away = weir.offload %x : tensor<6x4xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<f32>
  // CHECK: weir.microbatches 3 sliced(%{{.*}}) carried(%{{.*}}) : (tensor<6x4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %sum, %last = weir.microbatches 3 sliced(%x) carried(%zero) : (tensor<6x4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%round: tensor<i32>, %part: tensor<2x4xf32>, %before: tensor<f32>):
    %s = weir.reduce sum %part {axes = array<i64: 0, 1>} : tensor<2x4xf32> -> tensor<f32>
    // CHECK: weir.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
    weir.yield %s, %s : tensor<f32>, tensor<f32>
  }
  // CHECK: weir.gradient %{{.*}} wrt(%{{.*}}) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %g = weir.gradient %sum wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: weir.kernel map(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %next = weir.kernel map(%w, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %d = weir.sub %a, %b : tensor<4xf32>
    weir.yield %d : tensor<4xf32>
  }
  // CHECK: weir.write @w, %{{.*}} : tensor<4xf32>
  weir.write @w, %next : tensor<4xf32>
  return %sum : tensor<f32>
}
