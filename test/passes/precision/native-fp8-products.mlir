// RUN: weir-opt --weir-native-fp8-products=target=cuda:sm_90 --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-native-fp8-products=target=cuda:sm_90 --weir-upcast-unsupported=target=cuda:sm_90 --weir-fuse=target=cuda:sm_90 --split-input-file %s | FileCheck %s --check-prefix=FUSED
// RUN: weir-opt --weir-native-fp8-products=target=cuda --split-input-file %s | FileCheck %s --check-prefix=NONE
// RUN: weir-opt --weir-native-fp8-products=target=cuda:sm_80 --split-input-file %s | FileCheck %s --check-prefix=NONE
// RUN: weir-opt --weir-native-fp8-products=target=cuda:sm_90+none --split-input-file %s | FileCheck %s --check-prefix=NONE
// RUN: weir-opt --weir-native-fp8-products=target=cpu:x86-64-v3 --split-input-file %s | FileCheck %s --check-prefix=NONE

// Both factors lie as they are wanted; what is not finite is none in eight bits.
// CHECK-LABEL: func @scaled
// CHECK: %[[KEPT:.*]] = weir.select {{.*}} : tensor<32x64xi1>, tensor<32x64xf32>
// CHECK: %[[A:.*]] = weir.cast %[[KEPT]] : tensor<32x64xf32> -> tensor<32x64xf8E5M2>
// CHECK: %[[B:.*]] = weir.cast {{.*}} : tensor<16x64xf32> -> tensor<16x64xf8E4M3FN>
// CHECK-NOT: bf16
// CHECK: %[[SUMS:.*]] = weir.matmul %[[A]], %[[B]] {transpose_rhs} : tensor<32x64xf8E5M2>, tensor<16x64xf8E4M3FN> -> tensor<32x16xf32>
// CHECK-NEXT: weir.broadcast %[[S:.*]] {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<32x16xf32>
// CHECK-NEXT: weir.mul %[[SUMS]]
// CHECK-NEXT: weir.broadcast %{{.*}} {dimensions = array<i64>} : tensor<f32> -> tensor<32x16xf32>
// CHECK-NEXT: weir.mul
// CHECK-NEXT: weir.cast {{.*}} -> tensor<32x16xbf16>

// The number that is part of a vector is read there.
// FUSED-LABEL: func @scaled
// FUSED: weir.kernel product over #weir.epilogue<>(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<32x64xf8E5M2>, tensor<16x64xf8E4M3FN>, tensor<4xf32>, tensor<f32>) -> tensor<32x16xbf16>
// FUSED: weir.slice
// FUSED-NOT: weir.kernel product

// NONE-LABEL: func @scaled
// NONE: weir.matmul {{.*}} : tensor<32x64xbf16>, tensor<16x64xbf16>
func.func @scaled(%a: tensor<32x64xf32>, %b: tensor<16x64xf32>, %sizes: tensor<4xf32>, %size: tensor<f32>) -> tensor<32x16xbf16> {
  %scales = weir.power_of_two %sizes : tensor<4xf32>
  %ones = weir.constant 1.0 : f32 -> tensor<4xf32>
  %inverses = weir.div %ones, %scales : tensor<4xf32>
  %scale = weir.slice %scales {offsets = array<i64: 2>, strides = array<i64: 1>} : tensor<4xf32> -> tensor<1xf32>
  %inverse = weir.slice %inverses {offsets = array<i64: 2>, strides = array<i64: 1>} : tensor<4xf32> -> tensor<1xf32>
  %0 = weir.broadcast %scale {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<32x64xf32>
  %1 = weir.mul %a, %0 : tensor<32x64xf32>
  %2 = weir.cast %1 : tensor<32x64xf32> -> tensor<32x64xf8E5M2>
  %3 = weir.cast %2 : tensor<32x64xf8E5M2> -> tensor<32x64xf32>
  %4 = weir.broadcast %inverse {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<32x64xf32>
  %5 = weir.mul %3, %4 : tensor<32x64xf32>
  %6 = weir.is_finite %a : tensor<32x64xf32> -> tensor<32x64xi1>
  %7 = weir.select %6, %5, %a : tensor<32x64xi1>, tensor<32x64xf32>
  %lhs = weir.cast %7 : tensor<32x64xf32> -> tensor<32x64xbf16>
  %power = weir.power_of_two %size : tensor<f32>
  %8 = weir.cast %b : tensor<16x64xf32> -> tensor<16x64xf8E4M3FN>
  %9 = weir.cast %8 : tensor<16x64xf8E4M3FN> -> tensor<16x64xf32>
  %10 = weir.broadcast %power {dimensions = array<i64>} : tensor<f32> -> tensor<16x64xf32>
  %11 = weir.mul %9, %10 : tensor<16x64xf32>
  %rhs = weir.cast %11 : tensor<16x64xf32> -> tensor<16x64xbf16>
  %sums = weir.matmul %lhs, %rhs {transpose_rhs} : tensor<32x64xbf16>, tensor<16x64xbf16> -> tensor<32x16xf32>
  %low = weir.cast %sums : tensor<32x16xf32> -> tensor<32x16xbf16>
  return %low : tensor<32x16xbf16>
}

// -----

// What is not summed along its last dimension is turned over, once for two products.
// CHECK-LABEL: func @turned
// CHECK: %[[A:.*]] = weir.cast {{.*}} -> tensor<16x32xf8E4M3FN>
// CHECK: %[[T:.*]] = weir.transpose %[[A]] {permutation = array<i64: 1, 0>} : tensor<16x32xf8E4M3FN> -> tensor<32x16xf8E4M3FN>
// CHECK-NOT: weir.transpose
// CHECK: weir.matmul %[[T]], %[[T]] {transpose_rhs} : tensor<32x16xf8E4M3FN>, tensor<32x16xf8E4M3FN> -> tensor<32x32xf32>
// CHECK-NOT: weir.transpose
// CHECK: weir.matmul %[[T]], %[[T]] {transpose_rhs}
// FUSED-LABEL: func @turned
// FUSED: weir.kernel map
// FUSED: weir.transpose
// FUSED-NOT: weir.transpose
func.func @turned(%a: tensor<16x32xf32>, %size: tensor<1xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %power = weir.power_of_two %size : tensor<1xf32>
  %0 = weir.cast %a : tensor<16x32xf32> -> tensor<16x32xf8E4M3FN>
  %1 = weir.cast %0 : tensor<16x32xf8E4M3FN> -> tensor<16x32xf32>
  %2 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<16x32xf32>
  %3 = weir.mul %1, %2 : tensor<16x32xf32>
  %4 = weir.cast %3 : tensor<16x32xf32> -> tensor<16x32xbf16>
  %5 = weir.matmul %4, %4 {transpose_lhs} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<32x32xf32>
  %6 = weir.matmul %4, %4 {transpose_lhs} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<32x32xf32>
  return %5, %6 : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// Sizes that 16 does not divide, two factors of f8E5M2, and factors under numbers of which nothing is known stay bf16.
// CHECK-LABEL: func @stay
// CHECK-COUNT-3: weir.matmul {{.*}} : tensor<{{.*}}bf16>, tensor<{{.*}}bf16>
// CHECK-NOT: weir.matmul
func.func @stay(%a: tensor<16x24xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>, %size: tensor<1xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %power = weir.power_of_two %size : tensor<1xf32>
  %0 = weir.cast %a : tensor<16x24xf32> -> tensor<16x24xf8E4M3FN>
  %1 = weir.cast %0 : tensor<16x24xf8E4M3FN> -> tensor<16x24xf32>
  %2 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<16x24xf32>
  %3 = weir.mul %1, %2 : tensor<16x24xf32>
  %4 = weir.cast %3 : tensor<16x24xf32> -> tensor<16x24xbf16>
  %5 = weir.matmul %4, %4 {transpose_rhs} : tensor<16x24xbf16>, tensor<16x24xbf16> -> tensor<16x16xf32>
  %6 = weir.cast %b : tensor<16x16xf32> -> tensor<16x16xf8E5M2>
  %7 = weir.cast %6 : tensor<16x16xf8E5M2> -> tensor<16x16xf32>
  %8 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<16x16xf32>
  %9 = weir.mul %7, %8 : tensor<16x16xf32>
  %10 = weir.cast %9 : tensor<16x16xf32> -> tensor<16x16xbf16>
  %11 = weir.matmul %10, %10 {transpose_rhs} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  %12 = weir.cast %c : tensor<16x16xf32> -> tensor<16x16xf8E4M3FN>
  %13 = weir.cast %12 : tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  %14 = weir.broadcast %size {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<16x16xf32>
  %15 = weir.mul %13, %14 : tensor<16x16xf32>
  %16 = weir.cast %15 : tensor<16x16xf32> -> tensor<16x16xbf16>
  %17 = weir.matmul %16, %16 {transpose_rhs} : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  return %5, %11, %17 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Other types than bf16 round what eight bits and a power of two give: eight bits do once more, and f16 makes infinity of it.
// CHECK-LABEL: func @rounded_again
// CHECK: weir.matmul {{.*}} : tensor<{{.*}}f8E5M2>, tensor<{{.*}}f8E5M2>
// CHECK: weir.matmul {{.*}} : tensor<{{.*}}f16>, tensor<{{.*}}f16>
// CHECK-NOT: weir.mul {{.*}} tensor<16x16xf32>
func.func @rounded_again(%a: tensor<16x32xf32>, %size: tensor<1xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %power = weir.power_of_two %size : tensor<1xf32>
  %0 = weir.cast %a : tensor<16x32xf32> -> tensor<16x32xf8E4M3FN>
  %1 = weir.cast %0 : tensor<16x32xf8E4M3FN> -> tensor<16x32xf32>
  %2 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<16x32xf32>
  %3 = weir.mul %1, %2 : tensor<16x32xf32>
  %4 = weir.cast %3 : tensor<16x32xf32> -> tensor<16x32xf8E5M2>
  %5 = weir.matmul %4, %4 {transpose_rhs} : tensor<16x32xf8E5M2>, tensor<16x32xf8E5M2> -> tensor<16x16xf32>
  %6 = weir.cast %3 : tensor<16x32xf32> -> tensor<16x32xf16>
  %7 = weir.matmul %6, %6 {transpose_rhs} : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<16x16xf32>
  return %5, %7 : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// What all microbatches multiply is turned over once, ahead of them.
// CHECK-LABEL: func @rounds
// CHECK: weir.transpose {{.*}} : tensor<32x16xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
// CHECK: weir.microbatches
// CHECK-NOT: weir.transpose
// FUSED-LABEL: func @rounds
// FUSED: weir.transpose {{.*}} : tensor<32x16xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
// FUSED: weir.microbatches
// FUSED-NOT: weir.transpose
func.func @rounds(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %size: tensor<1xf32>, %sum: tensor<16xf32>) -> tensor<16xf32> {
  %power = weir.power_of_two %size : tensor<1xf32>
  %0 = weir.cast %w : tensor<32x16xf32> -> tensor<32x16xf8E4M3FN>
  %1 = weir.cast %0 : tensor<32x16xf8E4M3FN> -> tensor<32x16xf32>
  %2 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<32x16xf32>
  %3 = weir.mul %1, %2 : tensor<32x16xf32>
  %4 = weir.cast %3 : tensor<32x16xf32> -> tensor<32x16xbf16>
  %5 = weir.microbatches 2 sliced(%x) carried(%sum) : (tensor<64x32xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<32x32xf32>, %before: tensor<16xf32>):
    %6 = weir.cast %part : tensor<32x32xf32> -> tensor<32x32xf8E4M3FN>
    %7 = weir.cast %6 : tensor<32x32xf8E4M3FN> -> tensor<32x32xf32>
    %8 = weir.broadcast %power {dimensions = array<i64: 0>} : tensor<1xf32> -> tensor<32x32xf32>
    %9 = weir.mul %7, %8 : tensor<32x32xf32>
    %10 = weir.cast %9 : tensor<32x32xf32> -> tensor<32x32xbf16>
    %11 = weir.matmul %10, %4 : tensor<32x32xbf16>, tensor<32x16xbf16> -> tensor<32x16xf32>
    %12 = weir.reduce sum %11 {axes = array<i64: 0>} : tensor<32x16xf32> -> tensor<16xf32>
    %13 = weir.add %before, %12 : tensor<16xf32>
    weir.yield %13 : tensor<16xf32>
  }
  return %5 : tensor<16xf32>
}
