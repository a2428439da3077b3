// RUN: weir-opt --weir-strategy="tp-reduce-dtype=f16" --weir-partition --weir-bucket-collectives --weir-expand-collectives --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-partition --weir-bucket-collectives --weir-expand-collectives --split-input-file %s | FileCheck %s --check-prefix=WIDE

// What ranks of tp have of a product of f16 is sent as f16 and added up in f32.
module attributes {weir.mesh = #weir.mesh<tp = 2>} {
// CHECK-LABEL: func.func @predict
// WIDE-LABEL: func.func @predict
func.func @predict(%x: tensor<64x4096xf16> {weir.sharding = #weir.sharding<[64, 4096@tp]>}, %w: tensor<4096x1024xf16> {weir.sharding = #weir.sharding<[4096@tp, 1024]>}) -> tensor<64x1024xf32> {
  // CHECK: %[[PART:.*]] = weir.matmul {{.*}} -> tensor<64x1024xf32>
  // CHECK: %[[LOW:.*]] = weir.cast %[[PART]] : tensor<64x1024xf32> -> tensor<64x1024xf16>
  // CHECK: weir.all_to_all {{.*}}xf16>
  // CHECK: weir.reduce sum {{.*}}xf32>
  // CHECK: weir.all_gather {{.*}}xf16>
  // CHECK: weir.cast {{.*}} : tensor<64x1024xf16> -> tensor<64x1024xf32>
  // WIDE-NOT: weir.cast
  // WIDE: weir.all_to_all {{.*}}xf32>
  %a = weir.matmul %x, %w {weir.factor_sharding = #weir.sharding<[64, 4096@tp, 1024]>} : tensor<64x4096xf16>, tensor<4096x1024xf16> -> tensor<64x1024xf32>
  return %a : tensor<64x1024xf32>
}
}

// -----

// One of f32 is not, and over the rows of a batch, where gradients of parameters are added up, none is.
module attributes {weir.mesh = #weir.mesh<dp = 2, tp = 2>} {
// CHECK-LABEL: func.func @predict
// CHECK-NOT: weir.cast
// CHECK: return
func.func @predict(%x: tensor<64x4096xf32> {weir.sharding = #weir.sharding<[64, 4096@tp]>}, %w: tensor<4096x1024xf32> {weir.sharding = #weir.sharding<[4096@tp, 1024]>}, %y: tensor<64x4096xf16> {weir.sharding = #weir.sharding<[64@dp, 4096]>}, %z: tensor<64x1024xf16> {weir.sharding = #weir.sharding<[64@dp, 1024]>}) -> (tensor<64x1024xf32>, tensor<4096x1024xf32>) {
  %a = weir.matmul %x, %w {weir.factor_sharding = #weir.sharding<[64, 4096@tp, 1024]>} : tensor<64x4096xf32>, tensor<4096x1024xf32> -> tensor<64x1024xf32>
  %b = weir.matmul %y, %z {transpose_lhs, weir.factor_sharding = #weir.sharding<[64@dp, 4096, 1024]>} : tensor<64x4096xf16>, tensor<64x1024xf16> -> tensor<4096x1024xf32>
  return %a, %b : tensor<64x1024xf32>, tensor<4096x1024xf32>
}
}
