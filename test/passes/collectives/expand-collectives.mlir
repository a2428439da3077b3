// RUN: weir-opt --weir-expand-collectives --split-input-file %s | FileCheck %s

module attributes {weir.mesh = #weir.mesh<dp = 2, cp = 2>} {
  // CHECK-LABEL: func @reduce_scatter
  func.func @reduce_scatter(%x: tensor<5x3xf32>) -> tensor<3x3xf32> {
    // CHECK: %[[PARTS:.*]] = weir.all_to_all %arg0 over "dp" rows [3, 2] : tensor<5x3xf32> -> tensor<6x3xf32>
    // CHECK: %[[MEMBERS:.*]] = weir.split_dim %[[PARTS]] {{.*}} : tensor<6x3xf32> -> tensor<2x3x3xf32>
    // CHECK: %[[SUM:.*]] = weir.reduce sum %[[MEMBERS]] {axes = array<i64: 0>}
    // CHECK: return %[[SUM]]
    %own = weir.reduce_scatter %x over "dp" rows [3, 2] : tensor<5x3xf32> -> tensor<3x3xf32>
    return %own : tensor<3x3xf32>
  }

  // Little is gathered, and each member sums all of it.
  // CHECK-LABEL: func @few
  func.func @few(%x: tensor<3xf32>) -> tensor<3xf32> {
    // CHECK: %[[ROW:.*]] = weir.merge_dims %arg0 {{.*}} : tensor<3xf32> -> tensor<1x3xf32>
    // CHECK: %[[ALL:.*]] = weir.all_gather %[[ROW]] over "dp" rows [1, 1] : tensor<1x3xf32> -> tensor<2x3xf32>
    // CHECK: %[[SUM:.*]] = weir.reduce sum %[[ALL]]
    // CHECK: return %[[SUM]]
    %all = weir.all_reduce %x over ["dp"] : tensor<3xf32> -> tensor<3xf32>
    return %all : tensor<3xf32>
  }

  // What is little here may be much on another rank: all ranks have the same collectives.
  // CHECK-LABEL: func @fullest
  func.func @fullest(%x: tensor<3xf32>) -> tensor<3xf32> {
    // CHECK: weir.pad {{.*}} : tensor<3xf32> -> tensor<4xf32>
    // CHECK: weir.all_to_all {{.*}} over "dp" rows [2, 2] : tensor<4xf32> -> tensor<4xf32>
    // CHECK: weir.reduce sum {{.*}} : tensor<2x2xf32> -> tensor<2xf32>
    // CHECK: weir.all_gather {{.*}} over "dp" rows [2, 2] : tensor<2xf32> -> tensor<4xf32>
    // CHECK: weir.slice {{.*}} : tensor<4xf32> -> tensor<3xf32>
    %all = weir.all_reduce %x over ["dp"] fullest 2048 : tensor<3xf32> -> tensor<3xf32>
    return %all : tensor<3xf32>
  }

  // Rows of the first axis are reduced over the second one before they are gathered.
  // CHECK-LABEL: func @two_axes
  func.func @two_axes(%x: tensor<64x128xbf16>) -> tensor<64x128xbf16> {
    // CHECK: weir.all_to_all {{.*}} over "dp" rows [4096, 4096]
    // CHECK: weir.cast {{.*}} : tensor<2x4096xbf16> -> tensor<2x4096xf32>
    // CHECK: weir.reduce sum
    // CHECK: weir.cast {{.*}} : tensor<4096xf32> -> tensor<4096xbf16>
    // CHECK: weir.all_to_all {{.*}} over "cp" rows [2048, 2048]
    // CHECK: weir.all_gather {{.*}} over "cp" rows [2048, 2048]
    // CHECK: weir.all_gather {{.*}} over "dp" rows [4096, 4096]
    %all = weir.all_reduce %x over ["dp", "cp"] : tensor<64x128xbf16> -> tensor<64x128xbf16>
    return %all : tensor<64x128xbf16>
  }

  // CHECK-LABEL: func @gather
  func.func @gather(%x: tensor<2xf32>) -> tensor<4xf32> {
    // CHECK: weir.all_gather %arg0 over "dp" rows [2, 2] : tensor<2xf32> -> tensor<4xf32>
    %all = weir.all_gather %x over "dp" rows [2, 2] fullest 4 : tensor<2xf32> -> tensor<4xf32>
    return %all : tensor<4xf32>
  }
}
