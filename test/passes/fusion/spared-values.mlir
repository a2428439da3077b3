// RUN: weir-opt --weir-fuse=target=cuda --weir-merge-equal %s | FileCheck %s

// The gradient of silu(y) * z reads silu's two values, which cost twice what the product's result
// does that they are made of. Their other users are in the kernel that makes them, which need not
// store them.
// CHECK-LABEL: func @its_own_group_reads_them
func.func @its_own_group_reads_them(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>, %z: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = weir.kernel product
  // CHECK: %[[H:[^:]*]] = weir.kernel map(%[[Y]], %{{[^,]*}}) : {{.*}} -> tensor<16x8xf32> {
  // CHECK: %[[D:.*]] = weir.kernel product {{.*}}(%[[H]],
  // CHECK: weir.kernel map(%[[Y]], %[[D]])
  // CHECK: weir.tanh
  // CHECK: weir.exp
  %y = weir.matmul %x, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %a = weir.tanh %y : tensor<16x8xf32>
  %b = weir.exp %y : tensor<16x8xf32>
  %s = weir.mul %a, %b : tensor<16x8xf32>
  %h = weir.mul %s, %z : tensor<16x8xf32>
  %d = weir.matmul %h, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %1 = weir.mul %d, %a : tensor<16x8xf32>
  %2 = weir.mul %d, %b : tensor<16x8xf32>
  %3 = weir.add %1, %2 : tensor<16x8xf32>
  return %h, %3 : tensor<16x8xf32>, tensor<16x8xf32>
}

// A third kernel reads one of them: it is stored all the same, and the other alone is as large as
// the product's result.
// CHECK-LABEL: func @a_third_group_reads_one
func.func @a_third_group_reads_one(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>, %z: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = weir.kernel product
  // CHECK: %[[H:[^:]*]]:3 = weir.kernel map(%[[Y]], %{{[^,]*}})
  // CHECK: weir.exp
  // CHECK: %[[D:.*]] = weir.kernel product {{.*}}(%[[H]]#2,
  // CHECK: weir.kernel map(%[[D]], %[[H]]#0, %[[H]]#1)
  // CHECK-NOT: weir.exp
  // CHECK: return
  %y = weir.matmul %x, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %a = weir.tanh %y : tensor<16x8xf32>
  %b = weir.exp %y : tensor<16x8xf32>
  %s = weir.mul %a, %b : tensor<16x8xf32>
  %h = weir.mul %s, %z : tensor<16x8xf32>
  %d = weir.matmul %h, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %1 = weir.mul %d, %a : tensor<16x8xf32>
  %2 = weir.mul %d, %b : tensor<16x8xf32>
  %3 = weir.add %1, %2 : tensor<16x8xf32>
  %e = weir.matmul %b, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  return %h, %3, %e : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
