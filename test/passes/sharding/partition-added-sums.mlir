// RUN: weir-opt --weir-partition %s | FileCheck %s

// What ranks of tp have of two products, as of the gradients of what several matrices read, is added on each rank, and the sums of
// both are exchanged together, though what comes of them is cut over tp.
module attributes {weir.mesh = "tp=2"} {
// CHECK-LABEL: func.func @predict
func.func @predict(%x: tensor<64x4096xf32> {weir.layout = "64 4096@tp"}, %v: tensor<4096x1024xf32> {weir.layout = "4096@tp 1024"}, %w: tensor<4096x1024xf32> {weir.layout = "4096@tp 1024"}) -> (tensor<64x1024xf32> {weir.layout = "64@tp 1024"}) {
  // CHECK: %[[A:.*]] = weir.matmul {{.*}} -> tensor<64x1024xf32>
  %a = weir.matmul %x, %v {weir.cuts = "64 4096@tp 1024"} : tensor<64x4096xf32>, tensor<4096x1024xf32> -> tensor<64x1024xf32>
  // CHECK: %[[B:.*]] = weir.matmul {{.*}} -> tensor<64x1024xf32>
  %b = weir.matmul %x, %w {weir.cuts = "64 4096@tp 1024"} : tensor<64x4096xf32>, tensor<4096x1024xf32> -> tensor<64x1024xf32>
  // CHECK: %[[BOTH:.*]] = weir.add %[[A]], %[[B]] : tensor<64x1024xf32>
  // CHECK: weir.all_to_all %[[BOTH]] over "tp"
  // CHECK: weir.exp {{.*}} : tensor<32x1024xf32>
  %both = weir.add %a, %b {weir.cuts = "64@tp 1024"} : tensor<64x1024xf32>
  %e = weir.exp %both {weir.cuts = "64@tp 1024"} : tensor<64x1024xf32>
  return %e : tensor<64x1024xf32>
}
}
