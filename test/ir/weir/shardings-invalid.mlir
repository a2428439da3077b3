// RUN: weir-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{the axis dp is given twice}}
func.func private @twice(tensor<4xf32> {weir.sharding = #weir.sharding<[4@dp@dp]>})

// -----

// expected-error @+1 {{a dimension with a piece of 0 places: expected 1 or more}}
func.func private @nothing(tensor<4xf32> {weir.sharding = #weir.sharding<[0@dp]>})

// -----

// expected-error @+1 {{the axis dp is given twice}}
module attributes {weir.mesh = #weir.mesh<dp = 2, dp = 3>} {}

// -----

// expected-error @+1 {{'0' is not a valid size of the axis dp}}
module attributes {weir.mesh = #weir.mesh<dp = 0>} {}

// -----

// expected-error @+1 {{rank 6: expected 0 to 5 on dp=2,tp=3}}
module attributes {weir.mesh = #weir.mesh<dp = 2, tp = 3>, weir.rank = 6 : i64} {}

// -----

module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  // expected-error @+1 {{weir.sharding = #weir.sharding<[4@tp]> is no sharding on the mesh dp=2}}
  weir.variable parameter @w {weir.sharding = #weir.sharding<[4@tp]>} : tensor<4xf32>
}

// -----

module attributes {weir.mesh = #weir.mesh<pp = 2>} {
  // expected-error @+1 {{weir.sharding = #weir.sharding<[4] on pp = 2> is no sharding on the mesh pp=2}}
  weir.variable parameter @w {weir.sharding = #weir.sharding<[4] on pp = 2>} : tensor<4xf32>
}

// -----

// expected-error @+1 {{weir.sharding = #weir.sharding<[2, 2]> has 2 dimensions, and the tensor 1}}
weir.variable parameter @w {weir.sharding = #weir.sharding<[2, 2]>} : tensor<4xf32>
