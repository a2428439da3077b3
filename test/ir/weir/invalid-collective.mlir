// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @all_gather_c1(%x: tensor<2x5xf32>) -> tensor<4x5xf32> {
  // expected-error @below {{has 2 rows, as no member}}
  %all = weir.all_gather %x over "tp" rows [3, 1] : tensor<2x5xf32> -> tensor<4x5xf32>
  return %all : tensor<4x5xf32>
}

// -----

func.func @all_gather_c2(%x: tensor<2x5xf32>) -> tensor<5x5xf32> {
  // expected-error @below {{the result should be 4x5, but is 5x5}}
  %all = weir.all_gather %x over "tp" rows [2, 2] : tensor<2x5xf32> -> tensor<5x5xf32>
  return %all : tensor<5x5xf32>
}

// -----

func.func @all_gather_rows(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{moves rows, and its input has none}}
  %all = weir.all_gather %x over "tp" rows [1] : tensor<f32> -> tensor<f32>
  return %all : tensor<f32>
}

// -----

func.func @all_gather_none(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{needs a positive number of rows for each member}}
  %all = weir.all_gather %x over "tp" rows [2, 0] : tensor<2xf32> -> tensor<2xf32>
  return %all : tensor<2xf32>
}

// -----

func.func @all_to_all_c1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 4 rows, and 5 for all members together}}
  %all = weir.all_to_all %x over "tp" rows [3, 2] : tensor<4xf32> -> tensor<4xf32>
  return %all : tensor<4xf32>
}

// -----

func.func @all_to_all_c2(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{needs as many rows from each member as it has for itself}}
  %all = weir.all_to_all %x over "tp" rows [3, 2] : tensor<5xf32> -> tensor<5xf32>
  return %all : tensor<5xf32>
}

// -----

func.func @random_c2(%seed: tensor<i32>, %at: tensor<3xi32>) -> tensor<4xf32> {
  // expected-error @below {{places should be 4, but is 3}}
  %r = weir.random uniform seed %seed step %seed round %seed at %at of 12 {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<3xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @random_c3(%seed: tensor<i32>, %at: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{C3: has a part of 4294967297 random elements, of which 4294967296 at most are drawn over several ranks}}
  %r = weir.random uniform seed %seed step %seed round %seed at %at of 4294967297 {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
