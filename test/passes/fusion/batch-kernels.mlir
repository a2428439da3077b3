// RUN: weir-opt --weir-fuse --weir-batch-kernels=target=cuda --weir-verify-fused --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-fuse --weir-batch-kernels --split-input-file %s | FileCheck %s --check-prefix=CPU

// A processor begins a launch in no time.
// CPU-NOT: copies

// What is computed of variables alone moves to the first, and what is only written to the last.
weir.variable parameter @a : tensor<6xf32>
weir.variable parameter @b : tensor<6xf32>
weir.variable parameter @c : tensor<8xf32>
// CHECK-LABEL: func @parameters
func.func @parameters(%x: tensor<4x6xbf16>, %g: tensor<6xf32>) -> tensor<4x6xbf16> {
  // CHECK: %[[LOW:.*]]:2 = weir.kernel map(%{{.*}}, %{{.*}}) {copies = 2 : i64} : (tensor<6xf32>, tensor<6xf32>) -> (tensor<6xbf16>, tensor<6xbf16>) {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<6xf32>, %[[B:.*]]: tensor<6xf32>):
  // CHECK-NEXT: %[[AL:.*]] = weir.cast %[[A]]
  // CHECK-NEXT: %[[BL:.*]] = weir.cast %[[B]]
  // CHECK-NEXT: weir.yield %[[AL]], %[[BL]]
  // CHECK-DAG: weir.split_dim %[[LOW]]#0
  // CHECK-DAG: weir.split_dim %[[LOW]]#1
  // CHECK: weir.kernel product
  // CHECK: %[[NEW:.*]]:2 = weir.kernel map({{.*}}) {copies = 2 : i64}
  // CHECK-DAG: weir.write @a, %[[NEW]]#0
  // CHECK-DAG: weir.write @b, %[[NEW]]#1
  // CHECK: weir.kernel map({{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
  %a = weir.read @a : tensor<6xf32>
  %al = weir.cast %a : tensor<6xf32> -> tensor<6xbf16>
  %ar = weir.split_dim %al {dimension = 0, sizes = array<i64: 6, 1>} : tensor<6xbf16> -> tensor<6x1xbf16>
  %y = weir.matmul %x, %ar : tensor<4x6xbf16>, tensor<6x1xbf16> -> tensor<4x1xf32>
  %b = weir.read @b : tensor<6xf32>
  %bl = weir.cast %b : tensor<6xf32> -> tensor<6xbf16>
  %br = weir.split_dim %bl {dimension = 0, sizes = array<i64: 1, 6>} : tensor<6xbf16> -> tensor<1x6xbf16>
  %yl = weir.cast %y : tensor<4x1xf32> -> tensor<4x1xbf16>
  %z = weir.matmul %yl, %br : tensor<4x1xbf16>, tensor<1x6xbf16> -> tensor<4x6xf32>
  %an = weir.mul %a, %g : tensor<6xf32>
  weir.write @a, %an : tensor<6xf32>
  %bn = weir.mul %b, %g : tensor<6xf32>
  weir.write @b, %bn : tensor<6xf32>
  %c = weir.read @c : tensor<8xf32>
  %cn = weir.mul %c, %c : tensor<8xf32>
  weir.write @c, %cn : tensor<8xf32>
  %zl = weir.cast %z : tensor<4x6xf32> -> tensor<4x6xbf16>
  return %zl : tensor<4x6xbf16>
}

// -----

// One that waits for another is none of its copies, nor what would be kept for longer.
// CHECK-LABEL: func @chain
func.func @chain(%x: tensor<512x64xf32>, %w: tensor<64x64xf32>) -> (tensor<512x64xf32>, tensor<64x64xf32>) {
  // CHECK-NOT: copies
  %a = weir.exp %x : tensor<512x64xf32>
  %b = weir.matmul %a, %w : tensor<512x64xf32>, tensor<64x64xf32> -> tensor<512x64xf32>
  %c = weir.exp %b : tensor<512x64xf32>
  %d = weir.matmul %c, %w : tensor<512x64xf32>, tensor<64x64xf32> -> tensor<512x64xf32>
  %e = weir.matmul %x, %w : tensor<512x64xf32>, tensor<64x64xf32> -> tensor<512x64xf32>
  %f = weir.exp %e : tensor<512x64xf32>
  %g = weir.matmul %f, %d {transpose_lhs} : tensor<512x64xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  return %d, %g : tensor<512x64xf32>, tensor<64x64xf32>
}

// -----

// What ranks are sent begins as soon as it is made: it waits for no other.
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  // CHECK-LABEL: func @sent
  // CHECK-NOT: copies
  // CHECK: return
  func.func @sent(%x: tensor<6xf32>, %y: tensor<6xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %a = weir.exp %x : tensor<6xf32>
    %b = weir.exp %y : tensor<6xf32>
    %ga = weir.all_gather %a over "dp" rows [6, 6] : tensor<6xf32> -> tensor<12xf32>
    %gb = weir.all_gather %b over "dp" rows [6, 6] : tensor<6xf32> -> tensor<12xf32>
    return %ga, %gb : tensor<12xf32>, tensor<12xf32>
  }
  // CHECK-LABEL: func @kept
  // CHECK: copies = 2
  func.func @kept(%x: tensor<6xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
    %a = weir.exp %x : tensor<6xf32>
    %b = weir.exp %y : tensor<6xf32>
    return %a, %b : tensor<6xf32>, tensor<6xf32>
  }
}
