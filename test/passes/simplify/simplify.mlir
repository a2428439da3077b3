// RUN: weir-opt --weir-simplify %s | FileCheck %s

weir.variable parameter @w : tensor<4xf32>

// CHECK-LABEL: func @signs
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @signs(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %m = weir.constant -1.0 : f32 -> tensor<4xf32>
  // CHECK-DAG: %[[NEG:.*]] = weir.neg %[[B]]
  %n = weir.mul %b, %m : tensor<4xf32>
  // CHECK-DAG: %[[SUB:.*]] = weir.sub %[[A]], %[[B]]
  %0 = weir.add %a, %n : tensor<4xf32>
  %1 = weir.add %n, %a : tensor<4xf32>
  // CHECK-DAG: %[[ADD:.*]] = weir.add %[[A]], %[[B]]
  %2 = weir.sub %a, %n : tensor<4xf32>
  // CHECK: return %[[SUB]], %[[SUB]], %[[ADD]], %[[NEG]]
  return %0, %1, %2, %n : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Equal reads are one: a write shows only after the entry.
// CHECK-LABEL: func @reads
func.func @reads() -> tensor<4xf32> {
  // CHECK: %[[W:.*]] = weir.read @w
  // CHECK-NOT: weir.read
  %a = weir.read @w : tensor<4xf32>
  %e = weir.exp %a : tensor<4xf32>
  weir.write @w, %e : tensor<4xf32>
  %b = weir.read @w : tensor<4xf32>
  // CHECK: weir.write @w
  // CHECK: weir.add %[[W]], %[[W]]
  %s = weir.add %a, %b : tensor<4xf32>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func @dead
// CHECK-NEXT: return
func.func @dead(%a: tensor<4x4xf32>) {
  %0 = weir.matmul %a, %a : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = weir.exp %0 : tensor<4x4xf32>
  return
}

// CSE makes the operands equal, a second round the results.
// CHECK-LABEL: func @rounds
func.func @rounds(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: weir.exp
  // CHECK-NOT: weir.exp
  // CHECK: weir.mul
  %m = weir.constant -1.0 : f32 -> tensor<4xf32>
  %0 = weir.neg %a : tensor<4xf32>
  %1 = weir.mul %m, %a : tensor<4xf32>
  %2 = weir.exp %0 : tensor<4xf32>
  %3 = weir.exp %1 : tensor<4xf32>
  %4 = weir.mul %2, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// What stands for an op works in its types.
// CHECK-LABEL: func @keeps_types
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @keeps_types(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %minus = weir.constant -1.0 : f32 -> tensor<4xf32>
  %two = weir.constant 2.0 : f32 -> tensor<4xf32>
  %neg = weir.neg %b : tensor<4xf32>
  // CHECK-DAG: %[[MINUS:.*]] = weir.neg %[[A]] {compute = bf16}
  %0 = weir.mul %a, %minus {compute = bf16} : tensor<4xf32>
  // CHECK-DAG: %[[SUB:.*]] = weir.sub %[[A]], %[[B]] {compute = bf16}
  %1 = weir.add %a, %neg {compute = bf16} : tensor<4xf32>
  // CHECK-DAG: %[[ADD:.*]] = weir.add %[[A]], %[[B]] {compute = f16}
  %2 = weir.sub %a, %neg {compute = f16} : tensor<4xf32>
  // CHECK-DAG: %[[SQUARE:.*]] = weir.mul %[[A]], %[[A]] {compute = f16}
  %3 = weir.pow %a, %two {compute = f16} : tensor<4xf32>
  // CHECK: return %[[MINUS]], %[[SUB]], %[[ADD]], %[[SQUARE]]
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// 1 - e^x keeps the digits of a small x, and is 0 at 0, not -0; not where e^x is used beside it, nor of another number.
// CHECK-LABEL: @differences_to_one
func.func @differences_to_one(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[LESS:.*]] = weir.expm1 %arg0 : tensor<4xf32>
  // CHECK-DAG: %[[ZERO:.*]] = weir.constant 0.000000e+00 : f32 -> tensor<4xf32>
  // CHECK-DAG: %[[SHARE:.*]] = weir.sub %[[ZERO]], %[[LESS]] : tensor<4xf32>
  // CHECK-DAG: %[[USED:.*]] = weir.exp %arg0 {compute = f16} : tensor<4xf32>
  // CHECK-DAG: %[[A:.*]] = weir.sub %{{.*}}, %[[USED]] {compute = f16} : tensor<4xf32>
  // CHECK-DAG: %[[B:.*]] = weir.sub
  // CHECK: return %[[SHARE]], %[[A]], %[[USED]], %[[B]]
  %one = weir.constant 1.0 : f32 -> tensor<4xf32>
  %two = weir.constant 2.0 : f32 -> tensor<4xf32>
  %e = weir.exp %x : tensor<4xf32>
  %0 = weir.sub %one, %e : tensor<4xf32>
  %f = weir.exp %x {compute = f16} : tensor<4xf32>
  %1 = weir.sub %one, %f {compute = f16} : tensor<4xf32>
  %g = weir.exp %0 : tensor<4xf32>
  %2 = weir.sub %two, %g : tensor<4xf32>
  return %0, %1, %f, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
