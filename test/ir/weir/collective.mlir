// RUN: weir-opt %s | weir-opt | FileCheck %s

module attributes {weir.mesh = #weir.mesh<dp = 2, tp = 3>} {
  // CHECK-LABEL: func @collectives
  func.func @collectives(%x: tensor<2x5xf32>) -> tensor<4x5xf32> {
    // CHECK: weir.all_gather %{{.*}} over "tp" rows [2, 2, 1] : tensor<2x5xf32> -> tensor<5x5xf32>
    %all = weir.all_gather %x over "tp" rows [2, 2, 1] : tensor<2x5xf32> -> tensor<5x5xf32>
    // CHECK: weir.all_gather %{{.*}} over "tp" rows [2, 2, 1] again : tensor<2x5xf32> -> tensor<5x5xf32>
    %anew = weir.all_gather %x over "tp" rows [2, 2, 1] again : tensor<2x5xf32> -> tensor<5x5xf32>
    // CHECK: weir.all_reduce %{{.*}} over ["dp", "tp"] : tensor<2x5xf32> -> tensor<2x5xf32>
    %reduced = weir.all_reduce %x over ["dp", "tp"] : tensor<2x5xf32> -> tensor<2x5xf32>
    // CHECK: weir.reduce_scatter %{{.*}} over "tp" rows [2, 2, 1] fullest 25 : tensor<5x5xf32> -> tensor<1x5xf32>
    %scattered = weir.reduce_scatter %all over "tp" rows [2, 2, 1] fullest 25 : tensor<5x5xf32> -> tensor<1x5xf32>
    // CHECK: weir.all_to_all %{{.*}} over "dp" rows [3, 2] : tensor<5x5xf32> -> tensor<4x5xf32>
    %mine = weir.all_to_all %all over "dp" rows [3, 2] : tensor<5x5xf32> -> tensor<4x5xf32>
    // CHECK: weir.collective_permute %{{.*}} over "dp" rows [4, 4] again : tensor<4x5xf32> -> tensor<4x5xf32>
    %before = weir.collective_permute %mine over "dp" rows [4, 4] again : tensor<4x5xf32> -> tensor<4x5xf32>
    // CHECK: weir.pack %{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<4x5xf32> -> tensor<4x10xf32>
    %together = weir.pack %mine, %mine : tensor<4x5xf32>, tensor<4x5xf32> -> tensor<4x10xf32>
    // CHECK: %{{.*}}:2 = weir.unpack %{{.*}} : tensor<4x10xf32> -> tensor<4x5xf32>, tensor<4x5xf32>
    %parts:2 = weir.unpack %together : tensor<4x10xf32> -> tensor<4x5xf32>, tensor<4x5xf32>
    // CHECK: weir.random normal seed %{{.*}} step %{{.*}} round %{{.*}} at %{{.*}} of 12 {key = 3 : i64}
    %seed = weir.constant 1 : i32 -> tensor<i32>
    %places = weir.iota {dimension = 0 : i64} -> tensor<4x5xi32>
    %r = weir.random normal seed %seed step %seed round %seed at %places of 12 {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x5xi32>) -> tensor<4x5xf32>
    %sum = weir.add %mine, %r : tensor<4x5xf32>
    return %sum : tensor<4x5xf32>
  }

  // CHECK-LABEL: func @transfers
  func.func @transfers(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
    // CHECK: weir.stage_transfer %{{.*}} from 0 to 1 number 3 : tensor<2x5xf32>
    %there = weir.stage_transfer %x from 0 to 1 number 3 : tensor<2x5xf32>
    // CHECK: weir.stage_transfer %{{.*}} from 1 to -1 number 4 : tensor<2x5xf32>
    %all = weir.stage_transfer %there from 1 to -1 number 4 : tensor<2x5xf32>
    // CHECK: weir.send %{{.*}} over "dp" peer 1 number 3 : tensor<2x5xf32>
    weir.send %x over "dp" peer 1 number 3 : tensor<2x5xf32>
    // CHECK: weir.receive over "dp" peer 1 number 4 : tensor<2x5xf32>
    %got = weir.receive over "dp" peer 1 number 4 : tensor<2x5xf32>
    // CHECK: weir.save %{{.*}} number 1 : tensor<2x5xf32>
    weir.save %got number 1 : tensor<2x5xf32>
    // CHECK: weir.saved number 1 : tensor<2x5xf32>
    %saved = weir.saved number 1 : tensor<2x5xf32>
    return %saved : tensor<2x5xf32>
  }
}
