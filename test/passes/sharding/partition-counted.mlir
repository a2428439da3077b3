// RUN: weir-opt --weir-partition=rank=1 --weir-bucket-collectives --weir-expand-collectives --split-input-file %s | FileCheck %s
// Ops that count in a dimension that is cut, and reductions that are no sums.

module attributes {weir.mesh = #weir.mesh<tp = 2>} {
  weir.variable parameter @table {weir.sharding = #weir.sharding<[6@tp, 5]>} : tensor<6x5xf32>

  // Rows that another rank has are zero here, and the sum has them.
  // CHECK-LABEL: func @rows
  func.func @rows(%i: tensor<7xi32>) -> tensor<7x5xf32> {
    // CHECK: %[[TABLE:.*]] = weir.read @table : tensor<3x5xf32>
    %table = weir.read @table : tensor<6x5xf32>
    // CHECK: %[[BEGIN:.*]] = weir.read @"run/begin/6@tp" : tensor<i32>
    // CHECK: %[[ALL:.*]] = weir.broadcast %[[BEGIN]]
    // CHECK: %[[OWN:.*]] = weir.sub %{{.*}}, %[[ALL]] : tensor<7xi32>
    // CHECK: weir.gather %[[TABLE]], %[[OWN]] : tensor<3x5xf32>, tensor<7xi32> -> tensor<7x5xf32>
    %rows = weir.gather %table, %i {weir.factor_sharding = #weir.sharding<[6@tp, 5, 7]>} : tensor<6x5xf32>, tensor<7xi32> -> tensor<7x5xf32>
    // CHECK: weir.all_gather
    // CHECK: weir.reduce sum
    return %rows : tensor<7x5xf32>
  }

  // Of what is added up each rank has its segments.
  // CHECK-LABEL: func @segments
  func.func @segments(%x: tensor<7x5xf32>, %i: tensor<7xi32>) {
    // CHECK: %[[OWN:.*]] = weir.sub
    // CHECK: %[[SUM:.*]] = weir.segment_sum %{{.*}}, %[[OWN]] : tensor<7x5xf32>, tensor<7xi32> -> tensor<3x5xf32>
    %sum = weir.segment_sum %x, %i {weir.factor_sharding = #weir.sharding<[7, 5, 6@tp]>} : tensor<7x5xf32>, tensor<7xi32> -> tensor<6x5xf32>
    // CHECK-NEXT: weir.write @table, %[[SUM]]
    weir.write @table, %sum : tensor<6x5xf32>
    return
  }

  // The loss of a row is made of what ranks have of its classes.
  // CHECK-LABEL: func @classes
  func.func @classes(%x: tensor<7x6xf32>, %i: tensor<7xi32>) -> tensor<7xf32> {
    // CHECK: %[[LOSS:.*]], %[[SUM:.*]] = weir.softmax_cross_entropy %{{.*}} : tensor<7x3xf32>, tensor<7xi32> -> tensor<7xf32>
    // CHECK: weir.all_gather %{{.*}} over "tp" rows [1, 1] : tensor<1x7xf32> -> tensor<2x7xf32>
    // CHECK: weir.all_gather %{{.*}} over "tp" rows [1, 1] : tensor<1x7xf32> -> tensor<2x7xf32>
    // CHECK: weir.reduce max
    // CHECK: weir.argmax
    // CHECK: %[[ALL:.*]] = weir.reduce sum
    // CHECK: return %[[ALL]]
    %loss, %log_sum_exp = weir.softmax_cross_entropy %x, %i {weir.factor_sharding = #weir.sharding<[7, 6@tp]>} : tensor<7x6xf32>, tensor<7xi32> -> tensor<7xf32>
    return %loss : tensor<7xf32>
  }

  // CHECK-LABEL: func @largest
  func.func @largest(%x: tensor<7x6xf32>) -> tensor<7xf32> {
    // CHECK: %[[OWN:.*]] = weir.reduce max %{{.*}} : tensor<7x3xf32> -> tensor<7xf32>
    // CHECK: %[[ONE:.*]] = weir.merge_dims %[[OWN]]
    // CHECK: %[[ALL:.*]] = weir.all_gather %[[ONE]]
    // CHECK: weir.reduce max %[[ALL]] {axes = array<i64: 0>} : tensor<2x7xf32> -> tensor<7xf32>
    %y = weir.reduce max %x {axes = array<i64: 1>, weir.factor_sharding = #weir.sharding<[7, 6@tp]>} : tensor<7x6xf32> -> tensor<7xf32>
    return %y : tensor<7xf32>
  }

  // A slice of the second of two parts is the second of two of a rank's.
  // CHECK-LABEL: func @part
  func.func @part(%x: tensor<12xf32>) -> tensor<6xf32> {
    // CHECK: weir.slice %{{.*}} {offsets = array<i64: 3>, strides = array<i64: 1>} : tensor<6xf32> -> tensor<3xf32>
    %y = weir.slice %x {offsets = array<i64: 6>, strides = array<i64: 1>, weir.factor_sharding = #weir.sharding<[6@tp, 2]>} : tensor<12xf32> -> tensor<6xf32>
    return %y : tensor<6xf32>
  }
}

// -----

// What is gathered is gathered again for gradients, which come behind all that the loss is made of.
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  weir.variable parameter @w {weir.sharding = #weir.sharding<[4@dp, 6]>} : tensor<4x6xf32>

  // CHECK-LABEL: func @step
  func.func @step(%x: tensor<8x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
    %w = weir.read @w : tensor<4x6xf32>
    // CHECK: weir.all_gather %[[OWN:.*]] over "dp" rows [2, 2] : tensor<2x6xf32> -> tensor<4x6xf32>
    %y = weir.matmul %x, %w : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
    %loss = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<8x6xf32> -> tensor<f32>
    // CHECK: weir.all_gather %[[OWN]] over "dp" rows [2, 2] again : tensor<2x6xf32> -> tensor<4x6xf32>
    %g = weir.matmul %y, %w {transpose_rhs} : tensor<8x6xf32>, tensor<4x6xf32> -> tensor<8x4xf32>
    %s = weir.matmul %x, %g {transpose_lhs} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
    %n = weir.matmul %s, %w : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    weir.write @w, %n : tensor<4x6xf32>
    return %loss : tensor<f32>
  }
}
