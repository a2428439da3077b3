// RUN: weir-opt --weir-fuse --weir-merge-equal --split-input-file %s | FileCheck %s

// A product takes its bias along, though a split stands between; what follows is one map.
// CHECK-LABEL: func @linear
func.func @linear(%x: tensor<12x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) -> tensor<3x4x6xf32> {
  // CHECK: %[[P:.*]] = weir.kernel product
  // CHECK: weir.matmul
  // CHECK: weir.add
  // CHECK: %[[S:.*]] = weir.split_dim %[[P]]
  // CHECK: weir.kernel map(%[[S]])
  // CHECK: weir.tanh
  // CHECK-NEXT: weir.mul
  // CHECK-NOT: weir.kernel
  %p = weir.matmul %x, %w {transpose_rhs} : tensor<12x8xf32>, tensor<6x8xf32> -> tensor<12x6xf32>
  %s = weir.split_dim %p {dimension = 0, sizes = array<i64: 3, 4>} : tensor<12x6xf32> -> tensor<3x4x6xf32>
  %bias = weir.broadcast %b {dimensions = array<i64: 2>} : tensor<6xf32> -> tensor<3x4x6xf32>
  %t = weir.add %s, %bias : tensor<3x4x6xf32>
  %u = weir.tanh %t : tensor<3x4x6xf32>
  %v = weir.mul %u, %t : tensor<3x4x6xf32>
  return %v : tensor<3x4x6xf32>
}

// -----

// The bias is added in the types of its addition.
// CHECK-LABEL: func @types
func.func @types(%x: tensor<12x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) -> tensor<3x4x6xf32> {
  // CHECK: weir.kernel product
  // CHECK: weir.matmul %{{.*}}, %{{.*}} {accumulate = f16, transpose_rhs}
  // CHECK: weir.add %{{.*}}, %{{.*}} {compute = bf16} : tensor<12x6xf32>
  %p = weir.matmul %x, %w {transpose_rhs, accumulate = f16} : tensor<12x8xf32>, tensor<6x8xf32> -> tensor<12x6xf32>
  %s = weir.split_dim %p {dimension = 0, sizes = array<i64: 3, 4>} : tensor<12x6xf32> -> tensor<3x4x6xf32>
  %bias = weir.broadcast %b {dimensions = array<i64: 2>} : tensor<6xf32> -> tensor<3x4x6xf32>
  %t = weir.add %s, %bias {compute = bf16} : tensor<3x4x6xf32>
  return %t : tensor<3x4x6xf32>
}

// -----

// Reductions along rows and over rows of one tensor are one pass over it.
// CHECK-LABEL: func @siblings
func.func @siblings(%x: tensor<5x7xf32>, %g: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) {
  // CHECK: weir.kernel row
  // CHECK: weir.normalize
  // CHECK: weir.reduce sum
  // CHECK: weir.reduce sum
  // CHECK-NOT: weir.kernel
  %n, %m, %r = weir.normalize %x {eps = 1.0e-5} : tensor<5x7xf32> -> tensor<5xf32>
  %p = weir.mul %n, %g : tensor<5x7xf32>
  %a = weir.reduce sum %p {axes = array<i64: 0>} : tensor<5x7xf32> -> tensor<7xf32>
  %b = weir.reduce sum %g {axes = array<i64: 0>} : tensor<5x7xf32> -> tensor<7xf32>
  return %p, %a, %b : tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>
}

// -----

// So are those of what is read as another view, as what ranks gather along a sequence is.
// CHECK-LABEL: func @siblings_of_a_view
func.func @siblings_of_a_view(%x: tensor<3x5x7xf32>, %g: tensor<5x3x7xf32>) -> (tensor<7xf32>, tensor<3x5x7xf32>) {
  // CHECK: weir.kernel row
  // CHECK: weir.transpose
  // CHECK: weir.reduce sum
  // CHECK-NOT: weir.kernel
  %t = weir.transpose %g {permutation = array<i64: 1, 0, 2>} : tensor<5x3x7xf32> -> tensor<3x5x7xf32>
  %p = weir.mul %t, %x : tensor<3x5x7xf32>
  %a = weir.reduce sum %p {axes = array<i64: 0, 1>} : tensor<3x5x7xf32> -> tensor<7xf32>
  %e = weir.exp %t : tensor<3x5x7xf32>
  %n, %m, %r = weir.normalize %e {eps = 1.0e-5} : tensor<3x5x7xf32> -> tensor<3x5xf32>
  return %a, %n : tensor<7xf32>, tensor<3x5x7xf32>
}

// -----

// A column's sum is complete only when the kernel ends: what uses it is another kernel, and so is what needs both.
// CHECK-LABEL: func @waits
func.func @waits(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // CHECK: %[[K:.*]]:2 = weir.kernel row
  // CHECK: weir.exp
  // CHECK: weir.reduce sum
  // CHECK: weir.kernel map({{.*}}%[[K]]#
  // CHECK: weir.div
  %e = weir.exp %x : tensor<5x7xf32>
  %s = weir.reduce sum %e {axes = array<i64: 0>} : tensor<5x7xf32> -> tensor<7xf32>
  %b = weir.broadcast %s {dimensions = array<i64: 1>} : tensor<7xf32> -> tensor<5x7xf32>
  %d = weir.div %e, %b : tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// -----

// The forward kernel hands over nothing but its result: the backward one computes the tanh again from what it reads anyway.
// CHECK-LABEL: func @recompute
func.func @recompute(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK: %[[F:.*]] = weir.kernel map(%{{.*}}) : (tensor<16x8xf32>) -> tensor<16x8xf32>
  // CHECK: weir.kernel product
  // CHECK: weir.kernel map
  // CHECK: weir.tanh
  // CHECK: weir.mul
  %t = weir.tanh %x : tensor<16x8xf32>
  %y = weir.mul %t, %x : tensor<16x8xf32>
  %p = weir.matmul %y, %w : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  %a = weir.mul %p, %t : tensor<16x8xf32>
  %b = weir.mul %a, %x : tensor<16x8xf32>
  return %y, %b : tensor<16x8xf32>, tensor<16x8xf32>
}

// -----

// Attention reads its heads out of the one tensor they were computed in, and writes them back together.
// CHECK-LABEL: func @attention
func.func @attention(%qkv: tensor<2x5x24xf32>) -> tensor<2x5x8xf32> {
  // CHECK: weir.kernel attention(%{{.*}}) : (tensor<2x5x24xf32>) -> tensor<2x5x8xf32>
  // CHECK: weir.slice
  // CHECK: weir.attention
  // CHECK: weir.merge_dims
  // CHECK-NOT: weir.kernel
  %q0 = weir.slice %qkv {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<2x5x24xf32> -> tensor<2x5x8xf32>
  %k0 = weir.slice %qkv {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : tensor<2x5x24xf32> -> tensor<2x5x8xf32>
  %v0 = weir.slice %qkv {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : tensor<2x5x24xf32> -> tensor<2x5x8xf32>
  %q1 = weir.split_dim %q0 {dimension = 2, sizes = array<i64: 2, 4>} : tensor<2x5x8xf32> -> tensor<2x5x2x4xf32>
  %k1 = weir.split_dim %k0 {dimension = 2, sizes = array<i64: 2, 4>} : tensor<2x5x8xf32> -> tensor<2x5x2x4xf32>
  %v1 = weir.split_dim %v0 {dimension = 2, sizes = array<i64: 2, 4>} : tensor<2x5x8xf32> -> tensor<2x5x2x4xf32>
  %q = weir.transpose %q1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x5x2x4xf32> -> tensor<2x2x5x4xf32>
  %k = weir.transpose %k1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x5x2x4xf32> -> tensor<2x2x5x4xf32>
  %v = weir.transpose %v1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x5x2x4xf32> -> tensor<2x2x5x4xf32>
  %y, %l = weir.attention %q, %k, %v {causal, scale = 0.5} : tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32> -> tensor<2x2x5xf32>
  %t = weir.transpose %y {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x2x5x4xf32> -> tensor<2x5x2x4xf32>
  %m = weir.merge_dims %t {first = 2, count = 2} : tensor<2x5x2x4xf32> -> tensor<2x5x8xf32>
  return %m : tensor<2x5x8xf32>
}

// -----

// The library reads its bias from memory: one that is part of another vector is added behind the product.
// CHECK-LABEL: func @sliced_bias
func.func @sliced_bias(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<12xf32>) -> tensor<4x6xf32> {
  // CHECK: weir.kernel product
  // CHECK-NOT: weir.add
  // CHECK: weir.kernel map
  // CHECK: weir.add
  %p = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %s = weir.slice %b {offsets = array<i64: 6>, strides = array<i64: 1>} : tensor<12xf32> -> tensor<6xf32>
  %bias = weir.broadcast %s {dimensions = array<i64: 1>} : tensor<6xf32> -> tensor<4x6xf32>
  %t = weir.add %p, %bias : tensor<4x6xf32>
  return %t : tensor<4x6xf32>
}

// -----

// And as an f32 where it multiplies f32: one that is kept in bf16 is widened by a small kernel, not each row's by a large one.
// CHECK-LABEL: func @narrow_bias
func.func @narrow_bias(%x: tensor<12x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xbf16>) -> tensor<3x4x6xf32> {
  // CHECK: weir.kernel map(%arg2) : (tensor<6xbf16>) -> tensor<6xf32>
  // CHECK: weir.kernel product
  // CHECK: weir.matmul
  // CHECK: weir.add
  // CHECK-NOT: weir.kernel
  %p = weir.matmul %x, %w {transpose_rhs} : tensor<12x8xf32>, tensor<6x8xf32> -> tensor<12x6xf32>
  %s = weir.split_dim %p {dimension = 0, sizes = array<i64: 3, 4>} : tensor<12x6xf32> -> tensor<3x4x6xf32>
  %wide = weir.cast %b : tensor<6xbf16> -> tensor<6xf32>
  %bias = weir.broadcast %wide {dimensions = array<i64: 2>} : tensor<6xf32> -> tensor<3x4x6xf32>
  %t = weir.add %s, %bias : tensor<3x4x6xf32>
  return %t : tensor<3x4x6xf32>
}

// -----

// Where factors are of bf16 too, it reads a bias of bf16 as it is.
// CHECK-LABEL: func @low_bias
func.func @low_bias(%x: tensor<12x8xbf16>, %w: tensor<6x8xbf16>, %b: tensor<6xbf16>) -> tensor<3x4x6xbf16> {
  // CHECK-NEXT: weir.kernel product over #weir.epilogue<bias = 2>(%arg0, %arg1, %arg2)
  // CHECK: weir.add
  // CHECK: weir.cast
  // CHECK-NOT: weir.kernel
  %p = weir.matmul %x, %w {transpose_rhs} : tensor<12x8xbf16>, tensor<6x8xbf16> -> tensor<12x6xf32>
  %s = weir.split_dim %p {dimension = 0, sizes = array<i64: 3, 4>} : tensor<12x6xf32> -> tensor<3x4x6xf32>
  %low = weir.broadcast %b {dimensions = array<i64: 2>} : tensor<6xbf16> -> tensor<3x4x6xbf16>
  %bias = weir.cast %low : tensor<3x4x6xbf16> -> tensor<3x4x6xf32>
  %t = weir.add %s, %bias : tensor<3x4x6xf32>
  %r = weir.cast %t : tensor<3x4x6xf32> -> tensor<3x4x6xbf16>
  return %r : tensor<3x4x6xbf16>
}

// -----

// %t cannot join the kernel of %f: it also waits for %r, which is computed with %h, which waits for %f.
// CHECK-LABEL: func @no_cycle
func.func @no_cycle(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: weir.kernel map
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: weir.exp
  // CHECK-NEXT: weir.yield
  // CHECK: weir.kernel row
  // CHECK: weir.reduce
  %f = weir.exp %y : tensor<4x4xf32>
  %r = weir.reduce sum %x {axes = array<i64: 1>} : tensor<4x4xf32> -> tensor<4xf32>
  %rb = weir.broadcast %r {dimensions = array<i64: 0>} : tensor<4xf32> -> tensor<4x4xf32>
  %ft = weir.transpose %f {permutation = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  %h = weir.mul %rb, %ft : tensor<4x4xf32>
  %t = weir.mul %f, %rb : tensor<4x4xf32>
  return %h, %t : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The library's convolutions have less padding than window; others are plain loops.
// CHECK-LABEL: func @wide_padding
func.func @wide_padding(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x2xf32>) -> tensor<1x3x6x5xf32> {
  // CHECK: weir.kernel nest
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: weir.convolution
  %y = weir.convolution %x, %w {padding = array<i64: 1, 1>, strides = array<i64: 1, 1>} : tensor<1x2x4x4xf32>, tensor<3x2x1x2xf32> -> tensor<1x3x6x5xf32>
  return %y : tensor<1x3x6x5xf32>
}

// -----

// Attention reads memory: what is computed for it alone, and what no strides describe, is a kernel before it.
// CHECK-LABEL: func @attends_to_no_memory
func.func @attends_to_no_memory(%x: tensor<1x2x6x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: %[[ONES:.*]] = weir.kernel map() : () -> tensor<1x2x3x4xf32>
  // CHECK: %[[ROWS:.*]] = weir.kernel map(%{{.*}}) : (tensor<1x2x6x4xf32>) -> tensor<1x2x3x4xf32>
  // CHECK: weir.kernel attention(%[[ROWS]], %[[ONES]])
  %q = weir.constant 1.0 : f32 -> tensor<1x2x3x4xf32>
  %s = weir.slice %x {offsets = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 2, 1>} : tensor<1x2x6x4xf32> -> tensor<1x2x3x4xf32>
  %m = weir.merge_dims %s {first = 1 : i64, count = 3 : i64} : tensor<1x2x3x4xf32> -> tensor<1x24xf32>
  %k = weir.split_dim %m {dimension = 1 : i64, sizes = array<i64: 2, 3, 4>} : tensor<1x24xf32> -> tensor<1x2x3x4xf32>
  %y, %l = weir.attention %q, %k, %k {scale = 0.5} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

// %b and %c stand before %f, but %b waits for %f all the same once %n and %s are one kernel: %c cannot join %f.
// CHECK-LABEL: func @no_cycle_through_an_earlier_group
func.func @no_cycle_through_an_earlier_group(%x: tensor<6xf32>, %y: tensor<4xf32>, %z: tensor<f32>) -> (tensor<6xf32>, tensor<f32>) {
  // CHECK: weir.is_finite
  // CHECK: weir.kernel row
  // CHECK: weir.normalize
  // CHECK: weir.select
  // CHECK: weir.kernel map
  // CHECK: weir.mul
  // CHECK: weir.select
  %n, %m, %r = weir.normalize %x {eps = 0.25} : tensor<6xf32> -> tensor<f32>
  %b = weir.mul %m, %m : tensor<f32>
  %t = weir.reduce sum %y {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %f = weir.is_finite %t : tensor<f32> -> tensor<i1>
  %w = weir.broadcast %f {dimensions = array<i64>} : tensor<i1> -> tensor<6xi1>
  %s = weir.select %w, %n, %x : tensor<6xi1>, tensor<6xf32>
  %c = weir.select %f, %b, %z : tensor<i1>, tensor<f32>
  return %s, %c : tensor<6xf32>, tensor<f32>
}

// -----

// What is selected once all of it is known is computed again, from what is there, and not kept until then.
// CHECK-LABEL: func @computed_twice
// CHECK-SAME: (%[[P:.*]]: tensor<6x4xf32>, %[[G:.*]]: tensor<6x4xf32>)
func.func @computed_twice(%p: tensor<6x4xf32>, %g: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: %[[GOOD:.*]] = weir.kernel row over #weir.rows<1 x 24>(%[[P]], %[[G]]) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<f32>
  // CHECK: weir.sub
  // CHECK: weir.reduce
  // CHECK: %[[DECISION:.*]] = weir.kernel map(%[[GOOD]]) : (tensor<f32>) -> tensor<i1>
  // CHECK: weir.kernel map({{.*}}) : ({{.*}}) -> tensor<6x4xf32>
  // CHECK: weir.sub
  // CHECK: weir.select
  %n = weir.sub %p, %g : tensor<6x4xf32>
  %f = weir.is_finite %n : tensor<6x4xf32> -> tensor<6x4xi1>
  %c = weir.cast %f : tensor<6x4xi1> -> tensor<6x4xf32>
  %s = weir.reduce sum %c {axes = array<i64: 0, 1>} : tensor<6x4xf32> -> tensor<f32>
  %all = weir.constant 24.0 : f32 -> tensor<f32>
  %a = weir.compare eq %s, %all : tensor<f32> -> tensor<i1>
  %w = weir.broadcast %a {dimensions = array<i64>} : tensor<i1> -> tensor<6x4xi1>
  %o = weir.select %w, %n, %p : tensor<6x4xi1>, tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

weir.variable parameter @p : tensor<8x4xf32>

// So is the shard of a parameter of which a rank updates its rows: neither the old rows nor the new ones are kept.
// CHECK-LABEL: func @shard_computed_twice
func.func @shard_computed_twice(%g: tensor<6x4xf32>, %rows: tensor<6xi32>) -> tensor<6x4xf32> {
  // CHECK: %[[GOOD:.*]] = weir.kernel row over #weir.rows<1 x 24>({{.*}}) : ({{.*}}) -> tensor<f32>
  // CHECK: weir.gather
  // CHECK: weir.sub
  // CHECK: %[[DECISION:.*]] = weir.kernel map(%[[GOOD]]) : (tensor<f32>) -> tensor<i1>
  // CHECK: weir.kernel map({{.*}}) : ({{.*}}) -> tensor<6x4xf32>
  // CHECK: weir.gather
  // CHECK: weir.sub
  // CHECK: weir.select
  %whole = weir.read @p : tensor<8x4xf32>
  %p = weir.gather %whole, %rows : tensor<8x4xf32>, tensor<6xi32> -> tensor<6x4xf32>
  %n = weir.sub %p, %g : tensor<6x4xf32>
  %f = weir.is_finite %n : tensor<6x4xf32> -> tensor<6x4xi1>
  %c = weir.cast %f : tensor<6x4xi1> -> tensor<6x4xf32>
  %s = weir.reduce sum %c {axes = array<i64: 0, 1>} : tensor<6x4xf32> -> tensor<f32>
  %all = weir.constant 24.0 : f32 -> tensor<f32>
  %a = weir.compare eq %s, %all : tensor<f32> -> tensor<i1>
  %w = weir.broadcast %a {dimensions = array<i64>} : tensor<i1> -> tensor<6x4xi1>
  %o = weir.select %w, %n, %p : tensor<6x4xi1>, tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

weir.variable parameter @v : tensor<2x4xf32>
weir.variable parameter @w : tensor<2x4xf32>

// A parameter is gathered right before its first user, though the kernel that this one waits for also computes what the
// end of the step reads.
// CHECK-LABEL: func @gathered_on_demand
func.func @gathered_on_demand(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: weir.all_gather
  // CHECK: weir.kernel product
  // CHECK: weir.kernel map
  // CHECK: weir.exp
  // CHECK: weir.mul
  // CHECK: weir.all_gather
  // CHECK: weir.kernel product
  %v = weir.read @v : tensor<2x4xf32>
  %w = weir.read @w : tensor<2x4xf32>
  %first = weir.all_gather %v over "dp" rows [2, 2] : tensor<2x4xf32> -> tensor<4x4xf32>
  %y = weir.matmul %x, %first : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %e = weir.exp %y : tensor<4x4xf32>
  %second = weir.all_gather %w over "dp" rows [2, 2] : tensor<2x4xf32> -> tensor<4x4xf32>
  %z = weir.matmul %e, %second : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %late = weir.mul %e, %e : tensor<4x4xf32>
  return %z, %late : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Where that would read more than keeping the value does, it is kept.
// CHECK-LABEL: func @computed_once
func.func @computed_once(%p: tensor<6x4xf32>, %x: tensor<6x4xf32>, %y: tensor<6x4xf32>, %z: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: weir.kernel row over #weir.rows<1 x 24>({{.*}}) : ({{.*}}) -> (tensor<6x4xf32>, tensor<f32>)
  // CHECK: weir.select
  // CHECK-NOT: weir.sub
  %q = weir.sub %p, %x : tensor<6x4xf32>
  %r = weir.sub %q, %y : tensor<6x4xf32>
  %n = weir.sub %r, %z : tensor<6x4xf32>
  %f = weir.is_finite %n : tensor<6x4xf32> -> tensor<6x4xi1>
  %c = weir.cast %f : tensor<6x4xi1> -> tensor<6x4xf32>
  %s = weir.reduce sum %c {axes = array<i64: 0, 1>} : tensor<6x4xf32> -> tensor<f32>
  %all = weir.constant 24.0 : f32 -> tensor<f32>
  %a = weir.compare eq %s, %all : tensor<f32> -> tensor<i1>
  %w = weir.broadcast %a {dimensions = array<i64>} : tensor<i1> -> tensor<6x4xi1>
  %o = weir.select %w, %n, %p : tensor<6x4xi1>, tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// -----

// What nothing needs is in no kernel; %wide, of which the first kernel had a copy, does not outlast it.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<4x4xf32>) {
  %e = weir.exp %x : tensor<4x4xf32>
  %sum = weir.reduce sum %e {axes = array<i64: 1>} : tensor<4x4xf32> -> tensor<4xf32>
  %wide = weir.broadcast %sum {dimensions = array<i64: 0>} : tensor<4xf32> -> tensor<4x4xf32>
  %share = weir.div %e, %wide : tensor<4x4xf32>
  %product = weir.matmul %share, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// What microbatches read of outside is in memory there, also where a cast is moved behind it.
// CHECK-LABEL: func @widened_outside
// CHECK: %[[LOW:.*]] = weir.split_dim %{{.*}} : tensor<6xbf16> -> tensor<3x2xbf16>
// CHECK: %[[WIDE:.*]] = weir.kernel map(%[[LOW]]) : (tensor<3x2xbf16>) -> tensor<3x2xf32>
// CHECK: weir.microbatches 2
// CHECK: weir.kernel product {{.*}}(%{{.*}}, %[[WIDE]])
func.func @widened_outside(%x: tensor<4x3xf32>, %w: tensor<6xbf16>) -> tensor<f32> {
  %wide = weir.cast %w : tensor<6xbf16> -> tensor<6xf32>
  %matrix = weir.split_dim %wide {dimension = 0 : i64, sizes = array<i64: 3, 2>} : tensor<6xf32> -> tensor<3x2xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<f32>
  %sum = weir.microbatches 2 sliced(%x) carried(%zero) : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%round: tensor<i32>, %rows: tensor<2x3xf32>, %before: tensor<f32>):
    %product = weir.matmul %rows, %matrix : tensor<2x3xf32>, tensor<3x2xf32> -> tensor<2x2xf32>
    %all = weir.reduce sum %product {axes = array<i64: 0, 1>} : tensor<2x2xf32> -> tensor<f32>
    %next = weir.add %before, %all : tensor<f32>
    weir.yield %next : tensor<f32>
  }
  return %sum : tensor<f32>
}
