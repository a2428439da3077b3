// RUN: weir-opt --weir-strategy="mesh=pp=2,tp=2" --weir-cross-stages %s | FileCheck %s

weir.variable parameter @w0 {weir.sharding = #weir.sharding<[8@tp]>, weir.stage = 0 : i64} : tensor<8xf32>
weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<8xf32>

// A value crosses as it is made, or as it is used there where a rank has less of it so.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<8xf32>) {
  // CHECK: weir.stage_transfer %{{.*}} from 0 to 1 number 3 {weir.factor_sharding = #weir.sharding<[8@tp]>}
  %w0 = weir.read @w0 : tensor<8xf32>
  %w1 = weir.read @w1 : tensor<8xf32>
  // CHECK: %[[CUT:.*]] = weir.mul {{.*}}weir.factor_sharding = #weir.sharding<[8@tp]>, weir.stage = 0
  // CHECK: weir.stage_transfer %[[CUT]] from 0 to 1 number 1 {weir.factor_sharding = #weir.sharding<[8@tp]>}
  %cut = weir.mul %x, %w0 {weir.factor_sharding = #weir.sharding<[8@tp]>} : tensor<8xf32>
  // CHECK: %[[WHOLE:.*]] = weir.neg {{.*}}weir.stage = 0
  // CHECK: weir.stage_transfer %[[WHOLE]] from 0 to 1 number 2 {weir.factor_sharding = #weir.sharding<[8@tp]>}
  %whole = weir.neg %w0 : tensor<8xf32>
  %a = weir.mul %cut, %w1 {weir.stage = 1 : i64} : tensor<8xf32>
  %b = weir.mul %whole, %a {weir.factor_sharding = #weir.sharding<[8@tp]>, weir.stage = 1 : i64} : tensor<8xf32>
  %c = weir.mul %w0, %b {weir.stage = 1 : i64} : tensor<8xf32>
  weir.write @w1, %c : tensor<8xf32>
  return
}
