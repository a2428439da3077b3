// RUN: weir-opt --weir-strategy="mesh=cp=2" --weir-propagate-layouts --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: weir-opt --weir-strategy="mesh=cp=2 context-parallel=gather" --weir-propagate-layouts %S/Inputs/attention.mlir | FileCheck %s --check-prefix=GATHER
// RUN: weir-opt --weir-strategy="mesh=cp=2 context-parallel=gather" --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives %S/Inputs/attention.mlir | FileCheck %s --check-prefix=STRIPES
// RUN: weir-opt --weir-strategy="mesh=cp=2 context-parallel=ring" --weir-propagate-layouts --weir-partition --weir-bucket-collectives --weir-expand-collectives %S/Inputs/attention.mlir | FileCheck %s --check-prefix=RING
// RUN: weir-opt --weir-strategy="mesh=cp=2,tp=2" --weir-propagate-layouts %S/Inputs/attention.mlir | FileCheck %s --check-prefix=HEADS

// What is computed for each position is cut along them, and attention by heads. Parameters are whole.
// CHECK: module attributes {weir.mesh = #weir.mesh<cp = 2>
// CHECK-SAME: "w", true, 1, "8 8", ""]
module {
weir.variable parameter @w : tensor<8x8xf32>

// CHECK-LABEL: func @step
// CHECK-NOT: weir.sharding
func.func @step(%x: tensor<3x6x8xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %w = weir.read @w : tensor<8x8xf32>
  // CHECK: weir.merge_dims {{.*}}weir.factor_sharding = #weir.sharding<[3, 6@cp, 8]>
  %rows = weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<3x6x8xf32> -> tensor<18x8xf32>
  // CHECK: weir.matmul {{.*}}weir.factor_sharding = #weir.sharding<[3*6@cp, 8, 8]>
  %q = weir.matmul %rows, %w : tensor<18x8xf32>, tensor<8x8xf32> -> tensor<18x8xf32>
  %split = weir.split_dim %q {dimension = 0 : i64, sizes = array<i64: 3, 6>} : tensor<18x8xf32> -> tensor<3x6x8xf32>
  %each = weir.split_dim %split {dimension = 2 : i64, sizes = array<i64: 2, 4>} : tensor<3x6x8xf32> -> tensor<3x6x2x4xf32>
  // CHECK: weir.transpose {{.*}}weir.factor_sharding = #weir.sharding<[3, 6@cp, 2, 4]>
  %heads = weir.transpose %each {permutation = array<i64: 0, 2, 1, 3>} : tensor<3x6x2x4xf32> -> tensor<3x2x6x4xf32>
  // CHECK: weir.attention {{.*}}weir.factor_sharding = #weir.sharding<[3, 2@cp, 6, 4, 6]>
  %y, %sum = weir.attention %heads, %heads, %heads {causal, scale = 0.5 : f64} : tensor<3x2x6x4xf32>, tensor<3x2x6x4xf32> -> tensor<3x2x6xf32>
  // CHECK: weir.tanh {{.*}}weir.factor_sharding = #weir.sharding<[3, 2, 6@cp, 4]>
  %t = weir.tanh %y : tensor<3x2x6x4xf32>
  %loss = weir.reduce sum %t {axes = array<i64: 0, 1, 2, 3>} : tensor<3x2x6x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// Stripes of queries, and all keys: two pairs of stripes are computed, which are one where the rank's comes first.
// So it is where tp takes the heads there are.
// HEADS: weir.attention {{.*}}weir.factor_sharding = #weir.sharding<[3, 2@tp, 3*2@cp, 4, 6]>
// GATHER: weir.attention {{.*}}weir.factor_sharding = #weir.sharding<[3, 2, 3*2@cp, 4, 6]>
// GATHER: weir.tanh {{.*}}weir.factor_sharding = #weir.sharding<[3, 2, 3*2@cp, 4]>
// STRIPES: weir.variable run @"run/begin/2@cp" : tensor<i32>
// STRIPES: weir.all_gather {{.*}} over "cp" rows [1, 1]
// STRIPES-COUNT-2: weir.attention {{.*}}causal{{.*}} : tensor<3x2x3x4xf32>, tensor<3x2x3x4xf32> -> tensor<3x2x3xf32>
// STRIPES-NOT: weir.attention

// -----

module {
func.func @step(%q: tensor<3x1x6x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %y, %sum = weir.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<3x1x6x4xf32>, tensor<3x1x6x4xf32> -> tensor<3x1x6xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2, 3>} : tensor<3x1x6x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

module {
func.func @step(%q: tensor<3x1x5x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh cp=2 shards causal attention in equal stripes, but there are 5 queries and 5 keys here: expected as many queries as keys, a multiple of 2, or --context-parallel all-to-all with at least one head per rank}}
  %y, %sum = weir.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<3x1x5x4xf32>, tensor<3x1x5x4xf32> -> tensor<3x1x5xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2, 3>} : tensor<3x1x5x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

module {
func.func @step(%q: tensor<3x4x1x4xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  // expected-error @below {{--mesh cp=2 shards sequences, but `attention` has 1 position here: expected at least one per rank}}
  %y, %sum = weir.attention %q, %q, %q {scale = 0.5 : f64} : tensor<3x4x1x4xf32>, tensor<3x4x1x4xf32> -> tensor<3x4x1xf32>
  %loss = weir.reduce sum %y {axes = array<i64: 0, 1, 2, 3>} : tensor<3x4x1x4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

module {
// expected-error @below {{--mesh cp=2 shards sequences, but this model does not call `attention`: to shard batches, use dp}}
func.func @step(%x: tensor<3x6xf32>) -> (tensor<f32> {weir.output = "loss", weir.part = "sum"}) {
  %loss = weir.reduce sum %x {axes = array<i64: 0, 1>} : tensor<3x6xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// Each rank's own keys first, and then those of the one before it.
// RING-NOT: weir.all_gather
// RING: weir.attention {{.*}}causal{{.*}} : tensor<3x2x3x4xf32>, tensor<3x2x3x4xf32> -> tensor<3x2x3xf32>
// RING-NOT: weir.all_gather
// RING: weir.collective_permute %{{.*}} over "cp" rows [3, 3] : tensor<3x2x3x4xf32>
// RING: weir.collective_permute %{{.*}} over "cp" rows [3, 3] : tensor<3x2x3x4xf32>
// RING-NOT: weir.all_gather
// RING: weir.attention {{.*}}causal{{.*}} : tensor<3x2x3x4xf32>, tensor<3x2x3x4xf32> -> tensor<3x2x3xf32>
