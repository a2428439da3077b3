// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error @below {{has a value of type 'i32' for elements of type 'f32'}}
  weir.constant 1 : i32 -> tensor<2xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @below {{has no dimension 2 among the 2 of 2x3}}
  weir.iota {dimension = 2 : i64} -> tensor<2x3xi32>
  return
}

// -----

func.func @iota_c2() {
  weir.iota {dimension = 0 : i64} -> tensor<2147483648xi32>
  // expected-error @below {{counts to 2147483649, and at most to 2147483648 in i32}}
  weir.iota {dimension = 0 : i64} -> tensor<2147483649xi32>
  return
}

// -----

func.func @broadcast_c1_count(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs 2 dimensions, one for each of the input's, but has 1}}
  weir.broadcast %x {dimensions = array<i64: 0>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @broadcast_c1_order(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs strictly increasing dimensions}}
  weir.broadcast %x {dimensions = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<6x2xf32>
  return
}

// -----

func.func @broadcast_c1_range(%x: tensor<2x6xf32>) {
  // expected-error @below {{has no dimension 3 among the 3 of 2x6x4}}
  weir.broadcast %x {dimensions = array<i64: 0, 3>} : tensor<2x6xf32> -> tensor<2x6x4xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{cannot make size 6 of dimension 1 into 12}}
  weir.broadcast %x {dimensions = array<i64: 0, 1>} : tensor<2x6xf32> -> tensor<2x12xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs equal element types, but has 'f32' and 'i32'}}
  weir.broadcast %x {dimensions = array<i64: 0, 1>} : tensor<2x6xf32> -> tensor<2x6xi32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs a permutation of the input's 2 dimensions}}
  weir.transpose %x {permutation = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<6x6xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 6x2, but is 2x6}}
  weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @split_dim_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{has no dimension 2 among the 2 of 2x6}}
  weir.split_dim %x {dimension = 2 : i64, sizes = array<i64: 2, 3>} : tensor<2x6xf32> -> tensor<2x2x3xf32>
  return
}

// -----

func.func @split_dim_c2_product(%x: tensor<2x6xf32>) {
  // expected-error @below {{cannot split size 6 into 2x4}}
  weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 2, 4>} : tensor<2x6xf32> -> tensor<2x2x4xf32>
  return
}

// -----

func.func @split_dim_c2_result(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 2x2x3, but is 2x3x2}}
  weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 2, 3>} : tensor<2x6xf32> -> tensor<2x3x2xf32>
  return
}

// -----

func.func @merge_dims_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{cannot merge 2 dimensions from 1 on: 2x6 has 2}}
  weir.merge_dims %x {first = 1 : i64, count = 2 : i64} : tensor<2x6xf32> -> tensor<12xf32>
  return
}

// -----

func.func @merge_dims_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 12, but is 11}}
  weir.merge_dims %x {first = 0 : i64, count = 2 : i64} : tensor<2x6xf32> -> tensor<11xf32>
  return
}

// -----

func.func @slice_c1_count(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs equal ranks, and an offset and a stride for each dimension}}
  weir.slice %x {offsets = array<i64: 0>, strides = array<i64: 1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @slice_c1_stride(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs positive strides}}
  weir.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{reaches from 1 to 7 in dimension 1 of size 6}}
  weir.slice %x {offsets = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x6xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs positive strides}}
  weir.pad %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, -1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{reaches from 1 to 6 in dimension 1 of size 6}}
  weir.pad %x {offsets = array<i64: 0, 1>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @concat_c1_none() {
  // expected-error @below {{needs an input}}
  "weir.concat"() {dimension = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_c1_dimension(%x: tensor<2x6xf32>) {
  // expected-error @below {{has no dimension 2 among the 2 of 2x6}}
  weir.concat %x, %x {dimension = 2 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @concat_c1_sizes(%x: tensor<2x6xf32>, %y: tensor<3x6xf32>) {
  // expected-error @below {{cannot join 2x6 and 3x6 along dimension 1}}
  weir.concat %x, %y {dimension = 1 : i64} : tensor<2x6xf32>, tensor<3x6xf32> -> tensor<2x12xf32>
  return
}

// -----

func.func @concat_c2(%x: tensor<2x6xf32>) {
  // expected-error @below {{the result should be 4x6, but is 5x6}}
  weir.concat %x, %x {dimension = 0 : i64} : tensor<2x6xf32>, tensor<2x6xf32> -> tensor<5x6xf32>
  return
}

// -----

func.func @gather_c1(%x: tensor<2x6xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{the result should be 4x6, but is 4x2}}
  weir.gather %x, %i : tensor<2x6xf32>, tensor<4xi32> -> tensor<4x2xf32>
  return
}

// -----

func.func @segment_sum_c1(%x: tensor<2x6xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{the input should be 4x6, but is 2x6}}
  weir.segment_sum %x, %i : tensor<2x6xf32>, tensor<4xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @slice_c2_offset(%x: tensor<2x6xf32>) {
  // expected-error @below {{reaches from -1 to 2 in dimension 1 of size 6}}
  weir.slice %x {offsets = array<i64: 0, -1>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @slice_c2_far(%x: tensor<5xf32>) {
  // expected-error @below {{reaches from 0 to 9223372036854775807 in dimension 0 of size 5}}
  weir.slice %x {offsets = array<i64: 0>, strides = array<i64: 4611686018427387904>} : tensor<5xf32> -> tensor<4xf32>
  return
}

// -----

func.func @pad_c2_far(%x: tensor<2xf32>) {
  // expected-error @below {{reaches from 9223372036854775807 to 9223372036854775807 in dimension 0 of size 5}}
  weir.pad %x {offsets = array<i64: 9223372036854775807>, strides = array<i64: 1>} : tensor<2xf32> -> tensor<5xf32>
  return
}

// -----

func.func @split_dim_c2_large(%x: tensor<2x4xf32>) {
  // expected-error @below {{cannot split size 4 into 4611686018427387905x4}}
  weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 4611686018427387905, 4>} : tensor<2x4xf32> -> tensor<2x1x4xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs equal element types, but has 'i32' and 'f32'}}
  weir.slice %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xi32>
  return
}

// -----

func.func @pad_c3(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs equal element types, but has 'f32' and 'i32'}}
  weir.pad %x {offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x6xf32> -> tensor<2x6xi32>
  return
}

// -----

func.func @transpose_c2_elements(%x: tensor<2x6xf32>) {
  // expected-error @below {{needs equal element types, but has 'f32' and 'i32'}}
  weir.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x6xf32> -> tensor<6x2xi32>
  return
}

// -----

func.func @gather_c1_empty(%x: tensor<0x6xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{with 1 to 2^56 elements, but got 'tensor<0x6xf32>'}}
  weir.gather %x, %i : tensor<0x6xf32>, tensor<4xi32> -> tensor<4x6xf32>
  return
}

// -----

// Every op's tensors have the dialect's limit; one more element, and a product of sizes that wraps to 0.
func.func @broadcast_too_large(%x: tensor<f32>) {
  weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<268435456x268435456xf32>
  // expected-error @below {{result #0 must be statically shaped tensor of 32-bit float or 32-bit signless integer or 8-bit unsigned integer or 1-bit signless integer or bfloat16 type or 16-bit float or f8E4M3FN type or f8E5M2 type values, with 1 to 2^56 elements, but got 'tensor<268435457x268435456xf32>'}}
  weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<268435457x268435456xf32>
  return
}

// -----

func.func @broadcast_too_large_wraps(%x: tensor<2xf32>) {
  // expected-error @below {{with 1 to 2^56 elements, but got 'tensor<4294967296x4294967296x2xf32>'}}
  weir.broadcast %x {dimensions = array<i64: 2>} : tensor<2xf32> -> tensor<4294967296x4294967296x2xf32>
  return
}

// -----

func.func @broadcast_too_large_but_empty(%x: tensor<f32>) {
  // expected-error @below {{with 1 to 2^56 elements, but got 'tensor<4294967296x0xf32>'}}
  weir.broadcast %x {dimensions = array<i64>} : tensor<f32> -> tensor<4294967296x0xf32>
  return
}
