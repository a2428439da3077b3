// RUN: weir-opt --weir-strategy="mesh=pp=2" --weir-cross-stages %s | FileCheck %s

weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<8xf32>
weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<8xf32>

// A tied parameter goes to who reads it elsewhere, a result to all; a scalar that is spread crosses
// as a scalar, and what has no stage is where most of what it reads is.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<8xf32>) -> tensor<f32> {
  // CHECK: %[[W0:.*]] = weir.read @w0
  // CHECK: %[[W0THERE:.*]] = weir.stage_transfer %[[W0]] from 0 to 1 number 2
  %w0 = weir.read @w0 : tensor<8xf32>
  // CHECK: %[[W1:.*]] = weir.read @w1
  %w1 = weir.read @w1 : tensor<8xf32>
  // CHECK: %[[H:.*]] = weir.mul %{{.*}}, %[[W0]] {weir.stage = 0 : i64}
  // CHECK: %[[HTHERE:.*]] = weir.stage_transfer %[[H]] from 0 to 1 number 1
  %h = weir.mul %x, %w0 : tensor<8xf32>
  // CHECK: %[[Y:.*]] = weir.mul %[[HTHERE]], %[[W1]] {weir.stage = 1 : i64}
  %y = weir.mul %h, %w1 : tensor<8xf32>
  // CHECK: %[[Z:.*]] = weir.mul %[[Y]], %[[W0THERE]] {weir.stage = 1 : i64}
  %z = weir.mul %y, %w0 {weir.stage = 1 : i64} : tensor<8xf32>
  // CHECK: %[[S:.*]] = weir.reduce sum %[[Z]] {axes = array<i64: 0>, weir.stage = 1 : i64}
  // CHECK: %[[STHERE:.*]] = weir.stage_transfer %[[S]] from 1 to 0 number 3
  %s = weir.reduce sum %z {axes = array<i64: 0>} : tensor<8xf32> -> tensor<f32>
  %all = weir.broadcast %s {dimensions = array<i64>} : tensor<f32> -> tensor<8xf32>
  // CHECK: %[[ALL:.*]] = weir.broadcast %[[STHERE]] {{.*}}weir.stage = 0 : i64
  // CHECK: %[[NEW:.*]] = weir.sub %[[W0]], %[[ALL]] {weir.stage = 0 : i64}
  %new = weir.sub %w0, %all : tensor<8xf32>
  // CHECK: weir.write @w0, %[[NEW]]
  weir.write @w0, %new : tensor<8xf32>
  return %s : tensor<f32>
}
