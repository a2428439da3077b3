// RUN: weir-opt %s | weir-opt | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<2x3xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK: weir.neg %{{.*}} : tensor<2x3xf32>
  weir.neg %x : tensor<2x3xf32>
  // CHECK: weir.abs %{{.*}} : tensor<2x3xf32>
  weir.abs %x : tensor<2x3xf32>
  // CHECK: weir.exp %{{.*}} : tensor<2x3xf32>
  weir.exp %x : tensor<2x3xf32>
  // CHECK: weir.log %{{.*}} : tensor<2x3xf32>
  weir.log %x : tensor<2x3xf32>
  // CHECK: weir.sqrt %{{.*}} : tensor<2x3xf32>
  weir.sqrt %x : tensor<2x3xf32>
  // CHECK: weir.rsqrt %{{.*}} : tensor<2x3xf32>
  weir.rsqrt %x : tensor<2x3xf32>
  // CHECK: weir.tanh %{{.*}} : tensor<2x3xf32>
  weir.tanh %x : tensor<2x3xf32>
  // CHECK: weir.sin %{{.*}} : tensor<2x3xf32>
  weir.sin %x : tensor<2x3xf32>
  // CHECK: weir.cos %{{.*}} : tensor<2x3xf32>
  weir.cos %x : tensor<2x3xf32>
  // CHECK: weir.expm1 %{{.*}} : tensor<2x3xf32>
  weir.expm1 %x : tensor<2x3xf32>
  // CHECK: weir.log1p %{{.*}} : tensor<2x3xf32>
  weir.log1p %x : tensor<2x3xf32>
  // CHECK: weir.sigmoid %{{.*}} : tensor<2x3xf32>
  weir.sigmoid %x : tensor<2x3xf32>
  // CHECK: weir.normal_cdf %{{.*}} : tensor<2x3xf32>
  weir.normal_cdf %x : tensor<2x3xf32>
  // CHECK: weir.erf %{{.*}} : tensor<2x3xf32>
  weir.erf %x : tensor<2x3xf32>
  // CHECK: weir.sign %{{.*}} : tensor<2x3xf32>
  weir.sign %x : tensor<2x3xf32>
  // CHECK: weir.floor %{{.*}} : tensor<2x3xf32>
  weir.floor %x : tensor<2x3xf32>
  // CHECK: weir.power_of_two %{{.*}} : tensor<2x3xf32>
  weir.power_of_two %x : tensor<2x3xf32>
  // CHECK: weir.stop_gradient %{{.*}} : tensor<2x3xf32>
  weir.stop_gradient %x : tensor<2x3xf32>
  // CHECK: weir.neg %{{.*}} : tensor<4xi32>
  weir.neg %i : tensor<4xi32>
  // CHECK: weir.abs %{{.*}} : tensor<4xi32>
  weir.abs %i : tensor<4xi32>
  // CHECK: weir.not %{{.*}} : tensor<4xi1>
  weir.not %b : tensor<4xi1>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<2x3xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK: weir.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.add %x, %x : tensor<2x3xf32>
  // CHECK: weir.sub %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.sub %x, %x : tensor<2x3xf32>
  // CHECK: weir.mul %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.mul %x, %x : tensor<2x3xf32>
  // CHECK: weir.div %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.div %x, %x : tensor<2x3xf32>
  // CHECK: weir.max %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.max %x, %x : tensor<2x3xf32>
  // CHECK: weir.min %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.min %x, %x : tensor<2x3xf32>
  // CHECK: weir.pow %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weir.pow %x, %x : tensor<2x3xf32>
  // CHECK: weir.add %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.add %i, %i : tensor<4xi32>
  // CHECK: weir.sub %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.sub %i, %i : tensor<4xi32>
  // CHECK: weir.mul %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.mul %i, %i : tensor<4xi32>
  // CHECK: weir.div %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.div %i, %i : tensor<4xi32>
  // CHECK: weir.rem %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.rem %i, %i : tensor<4xi32>
  // CHECK: weir.max %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.max %i, %i : tensor<4xi32>
  // CHECK: weir.min %{{.*}}, %{{.*}} : tensor<4xi32>
  weir.min %i, %i : tensor<4xi32>
  // CHECK: weir.and %{{.*}}, %{{.*}} : tensor<4xi1>
  weir.and %b, %b : tensor<4xi1>
  // CHECK: weir.or %{{.*}}, %{{.*}} : tensor<4xi1>
  weir.or %b, %b : tensor<4xi1>
  // CHECK: weir.add %{{.*}}, %{{.*}} {compute = f32} : tensor<2x3xf32>
  weir.add %x, %x {compute = f32} : tensor<2x3xf32>
  // CHECK: weir.add %{{.*}}, %{{.*}} {compute = bf16} : tensor<2x3xf32>
  weir.add %x, %x {compute = bf16} : tensor<2x3xf32>
  return
}

// CHECK-LABEL: @predicates
func.func @predicates(%x: tensor<2x3xf32>, %i: tensor<4xi32>, %s: tensor<f32>) {
  // CHECK: weir.compare eq %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare eq %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare ne %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare ne %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare lt %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare lt %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare le %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare le %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare gt %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare gt %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare ge %{{.*}}, %{{.*}} : tensor<2x3xf32> -> tensor<2x3xi1>
  weir.compare ge %x, %x : tensor<2x3xf32> -> tensor<2x3xi1>
  // CHECK: weir.compare lt %{{.*}}, %{{.*}} : tensor<4xi32> -> tensor<4xi1>
  weir.compare lt %i, %i : tensor<4xi32> -> tensor<4xi1>
  // CHECK: weir.is_finite %{{.*}} : tensor<f32> -> tensor<i1>
  weir.is_finite %s : tensor<f32> -> tensor<i1>
  return
}

// CHECK-LABEL: @select_and_cast
func.func @select_and_cast(%c: tensor<2xi1>, %x: tensor<2xf32>, %u: tensor<2xui8>) {
  // CHECK: weir.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xi1>, tensor<2xf32>
  weir.select %c, %x, %x : tensor<2xi1>, tensor<2xf32>
  // CHECK: weir.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xi1>, tensor<2xui8>
  weir.select %c, %u, %u : tensor<2xi1>, tensor<2xui8>
  // CHECK: weir.cast %{{.*}} : tensor<2xui8> -> tensor<2xf32>
  weir.cast %u : tensor<2xui8> -> tensor<2xf32>
  // CHECK: weir.cast %{{.*}} : tensor<2xf32> -> tensor<2xi32>
  weir.cast %x : tensor<2xf32> -> tensor<2xi32>
  // CHECK: weir.cast %{{.*}} : tensor<2xf32> -> tensor<2xui8>
  weir.cast %x : tensor<2xf32> -> tensor<2xui8>
  // CHECK: weir.cast %{{.*}} : tensor<2xi1> -> tensor<2xf32>
  weir.cast %c : tensor<2xi1> -> tensor<2xf32>
  // CHECK: weir.cast %{{.*}} : tensor<2xf32> -> tensor<2xi1>
  weir.cast %x : tensor<2xf32> -> tensor<2xi1>
  // CHECK: weir.round_at_random %{{.*}} by %{{.*}} : tensor<2xf32>
  weir.round_at_random %x by %x : tensor<2xf32>
  return
}
