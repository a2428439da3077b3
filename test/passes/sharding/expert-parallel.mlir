// RUN: weir-opt --weir-strategy="mesh=dp=2,ep=2" --weir-propagate-layouts %s | FileCheck %s

// Rows are cut over both axes, experts over one. The views around the products are cut as these are, so tokens are
// exchanged where they are routed and where they come back: twice here.
// CHECK: module attributes {weir.mesh = #weir.mesh<dp = 2, ep = 2>
// CHECK-SAME: "up", true, 1, "4@ep 8 16", "ep: experts"]
// CHECK-SAME: "bias", true, 1, "4@ep 16", "ep: experts"]
// CHECK-SAME: "router", true, 1, "8 4", ""]
module {
weir.variable parameter @up : tensor<4x8x16xf32>
weir.variable parameter @bias : tensor<4x16xf32>
weir.variable parameter @router : tensor<8x4xf32>

// CHECK-LABEL: func @step
// CHECK-SAME: weir.sharding = #weir.sharding<[12@dp@ep, 6, 8]>
func.func @step(%x: tensor<12x6x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %up = weir.read @up : tensor<4x8x16xf32>
  %bias = weir.read @bias : tensor<4x16xf32>
  %router = weir.read @router : tensor<8x4xf32>
  // CHECK: weir.merge_dims {{.*}}weir.factor_sharding = #weir.sharding<[12@dp@ep, 6, 8]>
  %rows = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<12x6x8xf32> -> tensor<72x8xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[12@dp@ep*6, 8, 4]>
  %chances = weir.matmul %rows, %router : tensor<72x8xf32>, tensor<8x4xf32> -> tensor<72x4xf32>
  %sent = weir.split_dim %chances {dimension = 0 : i64, sizes = array<i64: 12, 6>} : tensor<72x4xf32> -> tensor<12x6x4xf32>
  %turned = weir.transpose %sent {permutation = array<i64: 0, 2, 1>} : tensor<12x6x4xf32> -> tensor<12x4x6xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[12@dp@ep, 4, 6, 8]>
  %there = weir.matmul %turned, %x : tensor<12x4x6xf32>, tensor<12x6x8xf32> -> tensor<12x4x8xf32>
  // CHECK: weir.transpose {{.*}}weir.factor_sharding = #weir.sharding<[12@dp, 4@ep, 8]>
  %tokens = weir.transpose %there {permutation = array<i64: 1, 0, 2>} : tensor<12x4x8xf32> -> tensor<4x12x8xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[4@ep, 12@dp, 8, 16]>
  %worked = weir.matmul %tokens, %up : tensor<4x12x8xf32>, tensor<4x8x16xf32> -> tensor<4x12x16xf32>
  // CHECK: weir.broadcast {{.*}}weir.factor_sharding = #weir.sharding<[4@ep, 12@dp, 16]>
  %spread = weir.broadcast %bias {dimensions = array<i64: 0, 2>} : tensor<4x16xf32> -> tensor<4x12x16xf32>
  // CHECK: weir.add {{.*}}weir.factor_sharding = #weir.sharding<[4@ep, 12@dp, 16]>
  %done = weir.add %worked, %spread : tensor<4x12x16xf32>
  // CHECK: weir.transpose {{.*}}weir.factor_sharding = #weir.sharding<[4@ep, 12@dp, 16]>
  %back = weir.transpose %done {permutation = array<i64: 1, 0, 2>} : tensor<4x12x16xf32> -> tensor<12x4x16xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[12@dp@ep, 6, 4, 16]>
  %y = weir.matmul %sent, %back : tensor<12x6x4xf32>, tensor<12x4x16xf32> -> tensor<12x6x16xf32>
  // CHECK: weir.reduce {{.*}}weir.factor_sharding = #weir.sharding<[12@dp@ep, 6, 16]>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2>} : tensor<12x6x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}
