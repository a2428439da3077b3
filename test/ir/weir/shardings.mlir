// RUN: weir-opt %s | FileCheck %s

// CHECK: module attributes {weir.mesh = #weir.mesh<pp = 3:1, dp = 2, tp = 4>} {
module attributes {weir.mesh = #weir.mesh<pp = 3:1, dp = 2, tp = 4>} {
  // CHECK: weir.variable parameter @w {weir.sharding = #weir.sharding<[3*16@tp*64, 8] on pp = 1>}
  weir.variable parameter @w {weir.sharding = #weir.sharding<[3*16@tp*64, 8] on pp = 1>} : tensor<3072x8xf32>
  // CHECK: tensor<f32> {weir.sharding = #weir.sharding<[]>}
  func.func @f(%x: tensor<f32> {weir.sharding = #weir.sharding<[]>}) -> tensor<f32> {
    // CHECK: weir.exp %{{.*}} {weir.factor_sharding = #weir.sharding<[12@dp@tp] partial pp>}
    %y = weir.exp %x {weir.factor_sharding = #weir.sharding<[12@dp@tp] partial pp>} : tensor<f32>
    return %y : tensor<f32>
  }
}
