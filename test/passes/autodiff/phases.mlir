// RUN: weir-opt --weir-autodiff %s | FileCheck %s

weir.variable parameter @w : tensor<3xf32>
weir.variable optimizer @count : tensor<f32>

// The loss is forward, its gradient backward, and all that the gradient changes is the update. So is what the update alone reads.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  // CHECK: weir.read @w {weir.phase = #weir.phase<forward>}
  // CHECK: weir.read @count {weir.phase = #weir.phase<update>}
  // CHECK: weir.mul {{.*}} {weir.phase = #weir.phase<forward>}
  // CHECK: weir.reduce sum {{.*}} weir.phase = #weir.phase<forward>}
  // CHECK: weir.broadcast {{.*}} weir.phase = #weir.phase<backward>}
  // CHECK: weir.mul {{.*}} {weir.phase = #weir.phase<backward>}
  // CHECK-NOT: #weir.phase<forward>
  // CHECK: weir.sub {{.*}} {weir.phase = #weir.phase<update>}
  // CHECK: weir.write @w, {{.*}} {weir.phase = #weir.phase<update>}
  // CHECK: weir.add {{.*}} {weir.phase = #weir.phase<update>}
  // CHECK: weir.write @count, {{.*}} {weir.phase = #weir.phase<update>}
  %w = weir.read @w : tensor<3xf32>
  %count = weir.read @count : tensor<f32>
  %one = weir.constant 1.0 : f32 -> tensor<f32>
  %y = weir.mul %w, %x : tensor<3xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %new = weir.sub %w, %g : tensor<3xf32>
  weir.write @w, %new : tensor<3xf32>
  %next = weir.add %count, %one : tensor<f32>
  weir.write @count, %next : tensor<f32>
  return %loss : tensor<f32>
}
