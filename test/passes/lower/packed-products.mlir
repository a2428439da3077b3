// RUN: weir-opt --weir-fuse --weir-lower-to-plan="target=cpu:x86-64-v3" --split-input-file %s | FileCheck %s
// RUN: weir-opt --weir-fuse --weir-lower-to-plan="target=cpu:x86-64-v4" --split-input-file %s | FileCheck %s --check-prefix=LIBRARY

// Where there is AVX2 alone, Weir's own kernel multiplies f32, in tiles of panels: of 6 rows, and of 16 columns. The plan holds the packed right operand.
// LIBRARY-NOT: kernel = packed
module {
  // CHECK: plan.entry @predict
  // CHECK: %[[PACKED:.*]] = plan.alloc {{.*}}packed right operand
  // CHECK: plan.call <product m = 512, n = 3072, k = 768, {{.*}}tile_m = 66, tile_n = 1536, kernel = packed>({{.*}}, %[[PACKED]] :
  func.func @predict(%x: tensor<512x768xf32> {weir.input = "x"}, %w: tensor<768x3072xf32> {weir.input = "w"}) -> (tensor<512x3072xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w : tensor<512x768xf32>, tensor<768x3072xf32> -> tensor<512x3072xf32>
    return %p : tensor<512x3072xf32>
  }
}

// -----

// Tiles of fewer rows, where there would be one tile.
module {
  // CHECK: plan.entry @predict
  // CHECK: plan.call <product m = 64, n = 96, k = 512, {{.*}}tile_m = 36, tile_n = 96, kernel = packed>
  func.func @predict(%x: tensor<64x512xf32> {weir.input = "x"}, %w: tensor<512x96xf32> {weir.input = "w"}) -> (tensor<64x96xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w : tensor<64x512xf32>, tensor<512x96xf32> -> tensor<64x96xf32>
    return %p : tensor<64x96xf32>
  }
}

// -----

// Too few rows to pack for.
module {
  // CHECK: plan.entry @predict
  // CHECK-NOT: kernel = packed
  func.func @predict(%x: tensor<23x768xf32> {weir.input = "x"}, %w: tensor<768x3072xf32> {weir.input = "w"}) -> (tensor<23x3072xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w : tensor<23x768xf32>, tensor<768x3072xf32> -> tensor<23x3072xf32>
    return %p : tensor<23x3072xf32>
  }
}

// -----

// Several products at once, which attention has.
module {
  // CHECK: plan.entry @predict
  // CHECK-NOT: kernel = packed
  func.func @predict(%x: tensor<8x256x256xf32> {weir.input = "x"}, %w: tensor<8x256x256xf32> {weir.input = "w"}) -> (tensor<8x256x256xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w : tensor<8x256x256xf32>, tensor<8x256x256xf32> -> tensor<8x256x256xf32>
    return %p : tensor<8x256x256xf32>
  }
}
