// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @all_reduce_c1(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{needs an axis}}
  %all = weir.all_reduce %x over [] : tensor<2xf32> -> tensor<2xf32>
  return %all : tensor<2xf32>
}

// -----

func.func @all_reduce_twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{is over "dp" twice}}
  %all = weir.all_reduce %x over ["dp", "dp"] : tensor<2xf32> -> tensor<2xf32>
  return %all : tensor<2xf32>
}

// -----

func.func @all_reduce_c2(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @below {{gives 'tensor<3xf32>': expected 'tensor<2xf32>'}}
  %all = weir.all_reduce %x over ["dp"] : tensor<2xf32> -> tensor<3xf32>
  return %all : tensor<3xf32>
}

// -----

func.func @reduce_scatter_c1(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 4 rows, and 5 for all members together}}
  %own = weir.reduce_scatter %x over "dp" rows [3, 2] : tensor<4xf32> -> tensor<2xf32>
  return %own : tensor<2xf32>
}

// -----

func.func @reduce_scatter_c2(%x: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{gives as many rows as no member gets}}
  %own = weir.reduce_scatter %x over "dp" rows [3, 2] : tensor<5xf32> -> tensor<4xf32>
  return %own : tensor<4xf32>
}

// -----

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

func.func @collective_permute_c1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 4 rows, and another member has not}}
  %before = weir.collective_permute %x over "tp" rows [4, 3] : tensor<4xf32> -> tensor<4xf32>
  return %before : tensor<4xf32>
}

// -----

func.func @collective_permute_c2(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{the result}}
  %before = weir.collective_permute %x over "tp" rows [4, 4] : tensor<4xf32> -> tensor<3xf32>
  return %before : tensor<3xf32>
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
  // expected-error @below {{C3: of 4294967297 random elements, in runs of 0, 1 places are said, of 32 bits each}}
  %r = weir.random uniform seed %seed step %seed round %seed at %at of 4294967297 {key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @random_c3_runs(%seed: tensor<i32>, %at: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @below {{C3: of 8589934592 random elements, in runs of 3, 2 places are said}}
  %r = weir.random uniform seed %seed step %seed round %seed at %at, %at of 8589934592 {block = 3 : i64, key = 3 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @pack_c1() {
  // expected-error @below {{needs at least one part}}
  %p = "weir.pack"() : () -> tensor<1xf32>
  return
}

// -----

func.func @pack_c1_dimensions(%x: tensor<f32>) -> tensor<1xf32> {
  // expected-error @below {{has parts of one dimension or two, and one has 0}}
  %p = weir.pack %x : tensor<f32> -> tensor<1xf32>
  return %p : tensor<1xf32>
}

// -----

func.func @pack_c1_rows(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) -> tensor<2x6xf32> {
  // expected-error @below {{has parts of one element type with equally many rows, and 'tensor<3x3xf32>' is with 'tensor<2x3xf32>'}}
  %p = weir.pack %x, %y : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<2x6xf32>
  return %p : tensor<2x6xf32>
}

// -----

func.func @pack_c1_types(%x: tensor<3xf32>, %y: tensor<3xi32>) -> tensor<6xf32> {
  // expected-error @below {{has parts of one element type with equally many rows, and 'tensor<3xi32>' is with 'tensor<3xf32>'}}
  %p = weir.pack %x, %y : tensor<3xf32>, tensor<3xi32> -> tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

func.func @pack_c2(%x: tensor<3xf32>, %y: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error @below {{has 'tensor<6xf32>': expected 'tensor<7xf32>', its parts side by side}}
  %p = weir.pack %x, %y : tensor<3xf32>, tensor<4xf32> -> tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

func.func @unpack_c1(%x: tensor<4x3xf32>) {
  // expected-error @below {{has parts of one element type with equally many rows, and 'tensor<2x1xf32>' is with 'tensor<4x2xf32>'}}
  %a, %b = weir.unpack %x : tensor<4x3xf32> -> tensor<4x2xf32>, tensor<2x1xf32>
  return
}

// -----

func.func @unpack_c2(%x: tensor<8xf32>) {
  // expected-error @below {{has 'tensor<8xf32>': expected 'tensor<7xf32>', its parts side by side}}
  %a, %b = weir.unpack %x : tensor<8xf32> -> tensor<3xf32>, tensor<4xf32>
  return
}

// -----

func.func @unpack_c1_none(%x: tensor<8xf32>) {
  // expected-error @below {{needs at least one part}}
  "weir.unpack"(%x) : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @stage_transfer_c1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{goes from one stage to another, or to all (-1)}}
  %y = weir.stage_transfer %x from 1 to 1 number 1 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @stage_transfer_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{needs a positive number}}
  %y = weir.stage_transfer %x from 0 to 1 number 0 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @send_c1(%x: tensor<4xf32>) {
  // expected-error @below {{names no rank along "pp"}}
  weir.send %x over "pp" peer -1 number 1 : tensor<4xf32>
  return
}

// -----

func.func @send_c2(%x: tensor<4xf32>) {
  // expected-error @below {{needs a positive number}}
  weir.send %x over "pp" peer 1 number 0 : tensor<4xf32>
  return
}

// -----

func.func @receive_c1() -> tensor<4xf32> {
  // expected-error @below {{names no rank along "pp"}}
  %y = weir.receive over "pp" peer -1 number 1 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @receive_c2() -> tensor<4xf32> {
  // expected-error @below {{needs a positive number}}
  %y = weir.receive over "pp" peer 1 number 0 : tensor<4xf32>
  return %y : tensor<4xf32>
}
