// RUN: weir-opt --weir-fuse --weir-lower-to-plan="target=cpu:x86-64-v4" --weir-assign-offsets --split-input-file %s | FileCheck %s

// Parameters are updated in place: the kernel reads and writes the variable, and equal kernels are one.
module {
  weir.variable parameter @v : tensor<8xf32>
  weir.variable parameter @w : tensor<8xf32>
  // CHECK: plan.entry @step
  func.func @step(%g: tensor<8xf32> {weir.input = "g"}) -> (tensor<8xf32> {weir.output = "old", weir.part = "tensor"}) {
    // CHECK-DAG: %[[V:.*]] = plan.use @v
    // CHECK-DAG: %[[W:.*]] = plan.use @w
    // CHECK: plan.launch @kernel_0 0(%[[V]], %[[G:.*]], %[[V]] :
    // CHECK: plan.launch @kernel_0 0(%[[W]], %[[G]], %[[NEW:[^ ]*]] :
    // w's old value is an output: it is kept before the new one arrives.
    // CHECK: plan.copy %[[W]] to %[[OLD:.*]] 32
    // CHECK: plan.copy %[[NEW]] to %[[W]] 32
    // CHECK: plan.port tensor "old" %[[OLD]]
    // CHECK: plan.kernel map @kernel_0
    // CHECK-NOT: plan.kernel
    %v = weir.read @v : tensor<8xf32>
    %w = weir.read @w : tensor<8xf32>
    %v1 = weir.sub %v, %g : tensor<8xf32>
    %w1 = weir.sub %w, %g : tensor<8xf32>
    weir.write @v, %v1 : tensor<8xf32>
    weir.write @w, %w1 : tensor<8xf32>
    return %w : tensor<8xf32>
  }
}

// -----

// A variable may be called what a kernel would be.
module {
  weir.variable parameter @kernel_0 : tensor<8xf32>
  // CHECK: plan.entry @step
  func.func @step(%g: tensor<8xf32> {weir.input = "g"}) {
    // CHECK: %[[V:.*]] = plan.use @kernel_0
    // CHECK: plan.launch @kernel_0_0 0(%[[V]],
    // CHECK: plan.kernel map @kernel_0_0
    %v = weir.read @kernel_0 : tensor<8xf32>
    %v1 = weir.sub %v, %g : tensor<8xf32>
    weir.write @kernel_0, %v1 : tensor<8xf32>
    return
  }
}

// -----

// A product's tiles depend on its sizes, elements and layouts alone. In bf16 they have 64 rows at least, and half as many are enough.
module {
  // CHECK: plan.entry @predict
  // CHECK: plan.call <product m = 512, n = 3072, k = 768, {{.*}}tile_m = 64, tile_n = 3072,
  func.func @predict(%x: tensor<512x768xbf16> {weir.input = "x"}, %w: tensor<768x3072xbf16> {weir.input = "w"}) -> (tensor<512x3072xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w : tensor<512x768xbf16>, tensor<768x3072xbf16> -> tensor<512x3072xf32>
    return %p : tensor<512x3072xf32>
  }
}

// -----

// Of a left operand that lies transposed the longer side of the result is cut first.
module {
  // CHECK: plan.entry @predict
  // CHECK: plan.call <product m = 384, n = 1536, k = 2048, {{.*}}tile_m = 192, tile_n = 256>
  func.func @predict(%x: tensor<2048x384xf32> {weir.input = "x"}, %w: tensor<2048x1536xf32> {weir.input = "w"}) -> (tensor<384x1536xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w {transpose_lhs} : tensor<2048x384xf32>, tensor<2048x1536xf32> -> tensor<384x1536xf32>
    return %p : tensor<384x1536xf32>
  }
}

// -----

module {
  // CHECK: plan.entry @predict
  // CHECK: plan.call <product m = 768, n = 384, k = 128, {{.*}}, bias = true, relu = true, tile_m = 96, tile_n = 384>
  func.func @predict(%x: tensor<768x128xf32> {weir.input = "x"}, %w: tensor<384x128xf32> {weir.input = "w"}, %b: tensor<384xf32> {weir.input = "b"}) -> (tensor<768x384xf32> {weir.output = "y", weir.part = "tensor"}) {
    %p = weir.matmul %x, %w {transpose_rhs} : tensor<768x128xf32>, tensor<384x128xf32> -> tensor<768x384xf32>
    %bias = weir.broadcast %b {dimensions = array<i64: 1>} : tensor<384xf32> -> tensor<768x384xf32>
    %t = weir.add %p, %bias : tensor<768x384xf32>
    %zero = weir.constant 0.0 : f32 -> tensor<768x384xf32>
    %y = weir.max %zero, %t : tensor<768x384xf32>
    return %y : tensor<768x384xf32>
  }
}

// -----

// Max pooling is the library's where that is faster: not of windows that lie side by side, and not of few taps or planes.
module {
  // CHECK: plan.entry @pools
  // CHECK: plan.call <max_pooling planes = 128, size = [32, 32], window = [3, 3], strides = [2, 2], tile_planes = 64>
  // CHECK-NOT: plan.call
  // CHECK-COUNT-4: plan.kernel nest
  func.func @pools(%x: tensor<8x16x32x32xf32> {weir.input = "x"}, %z: tensor<15x32x32xf32> {weir.input = "z"}) -> (tensor<8x16x15x15xf32> {weir.output = "a", weir.part = "tensor"}, tensor<8x16x16x16xf32> {weir.output = "b", weir.part = "tensor"}, tensor<8x16x30x30xf32> {weir.output = "c", weir.part = "tensor"}, tensor<8x16x11x11xf32> {weir.output = "d", weir.part = "tensor"}, tensor<15x15x15xf32> {weir.output = "e", weir.part = "tensor"}) {
    %a = weir.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>} : tensor<8x16x32x32xf32> -> tensor<8x16x15x15xf32>
    %b = weir.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<8x16x32x32xf32> -> tensor<8x16x16x16xf32>
    %c = weir.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 1, 1>} : tensor<8x16x32x32xf32> -> tensor<8x16x30x30xf32>
    %d = weir.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 3, 3>} : tensor<8x16x32x32xf32> -> tensor<8x16x11x11xf32>
    %e = weir.max_pool %z {window = array<i64: 3, 3>, strides = array<i64: 2, 2>} : tensor<15x32x32xf32> -> tensor<15x15x15xf32>
    return %a, %b, %c, %d, %e : tensor<8x16x15x15xf32>, tensor<8x16x16x16xf32>, tensor<8x16x30x30xf32>, tensor<8x16x11x11xf32>, tensor<15x15x15xf32>
  }
}

// -----

// Microbatches repeat their body over slices of the input; what is carried has one buffer.
module {
  // CHECK: plan.loop 2
  // CHECK: plan.part %{{.*}} at 0 moving with %{{.*}} {moduli = array<i64: 0>, strides = array<i64: 16>}
  // CHECK: plan.launch {{.*}}(%[[SUM:.*]], %{{.*}}, %[[SUM]] :
  func.func @step(%x: tensor<2x4xf32> {weir.input = "x"}) -> (tensor<4xf32> {weir.output = "y", weir.part = "tensor"}) {
    %zero = weir.constant 0.0 : f32 -> tensor<4xf32>
    %0 = weir.microbatches 2 sliced(%x) carried(%zero) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%round: tensor<i32>, %slice: tensor<1x4xf32>, %sum: tensor<4xf32>):
      %row = weir.merge_dims %slice {first = 0, count = 2} : tensor<1x4xf32> -> tensor<4xf32>
      %next = weir.add %sum, %row : tensor<4xf32>
      weir.yield %next : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

// Old values that other variables get are kept until the end, through aliases too.
module {
  weir.variable state @a : tensor<2x4xf32>
  weir.variable state @b : tensor<8xf32>
  weir.variable state @c : tensor<8xf32>
  // CHECK: plan.entry @swap
  // CHECK-DAG: %[[A:.*]] = plan.use @a
  // CHECK-DAG: %[[B:.*]] = plan.use @b
  // CHECK: plan.launch @kernel_{{.*}} 0(%[[B]], %[[NEW:[^ ]*]] :
  // CHECK: plan.copy %[[B]] to %[[KEPT:.*]] 32
  // CHECK: plan.copy %[[KEPT]] to %[[A]] 32
  // CHECK: plan.copy %[[NEW]] to %[[B]] 32
  func.func @swap() {
    %b = weir.read @b : tensor<8xf32>
    %split = weir.split_dim %b {dimension = 0, sizes = array<i64: 2, 4>} : tensor<8xf32> -> tensor<2x4xf32>
    weir.write @a, %split : tensor<2x4xf32>
    %n = weir.neg %b : tensor<8xf32>
    weir.write @b, %n : tensor<8xf32>
    return
  }
}

// -----

// A convolution whose scratch no artifact may ask for is a kernel of plain loops.
// CHECK-LABEL: plan.entry @wide_window
// CHECK-NOT: plan.call
// CHECK: plan.launch
module {
  func.func @wide_window(%x: tensor<1x64x1024x1024xf32> {weir.input = "x"}, %w: tensor<8x64x7x7xf32> {weir.input = "w"}) -> (tensor<1x8x1024x1024xf32> {weir.output = "y", weir.part = "tensor"}) {
    %y = weir.convolution %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 3, 3>} : tensor<1x64x1024x1024xf32>, tensor<8x64x7x7xf32> -> tensor<1x8x1024x1024xf32>
    return %y : tensor<1x8x1024x1024xf32>
  }
}

// -----

// What is packed is copied: rows of several in one loop, and what is one row of each one by one.
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  // CHECK: plan.entry @step
  func.func @step(%x: tensor<2x3xf32> {weir.input = "x"}, %y: tensor<2x5xf32> {weir.input = "y"})
      -> (tensor<6xf32> {weir.output = "a", weir.part = "tensor"}, tensor<10xf32> {weir.output = "b", weir.part = "tensor"}) {
    // CHECK-DAG: %[[X:.*]] = plan.alloc 24 "input"
    // CHECK-DAG: %[[Y:.*]] = plan.alloc 40 "input"
    // CHECK: %[[ALL:.*]] = plan.alloc 64 "packed"
    // CHECK: plan.loop 2 round
    // CHECK: ^bb0(%[[ROW:.*]]: !plan.index
    // CHECK: %[[FROM:.*]] = plan.part %[[X]] at 0 moving with %[[ROW]] {moduli = array<i64: 0>, strides = array<i64: 12>}
    // CHECK: %[[TO:.*]] = plan.part %[[ALL]] at 0 moving with %[[ROW]] {moduli = array<i64: 0>, strides = array<i64: 32>}
    // CHECK: plan.copy %[[FROM]] to %[[TO]] 12
    // CHECK: %[[FROM:.*]] = plan.part %[[Y]] at 0 moving with %[[ROW]] {moduli = array<i64: 0>, strides = array<i64: 20>}
    // CHECK: %[[TO:.*]] = plan.part %[[ALL]] at 12 moving with %[[ROW]] {moduli = array<i64: 0>, strides = array<i64: 32>}
    // CHECK: plan.copy %[[FROM]] to %[[TO]] 20
    // CHECK: }
    // CHECK: %[[A:.*]] = plan.alloc 24 "unpacked"
    // CHECK: %[[B:.*]] = plan.alloc 40 "unpacked"
    // CHECK: plan.copy %[[ALL]] to %[[A]] 24
    // CHECK: %[[PART:.*]] = plan.part %[[ALL]] at 24
    // CHECK: plan.copy %[[PART]] to %[[B]] 40
    // CHECK-NOT: plan.launch
    %p = weir.pack %x, %y : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<2x8xf32>
    %flat = weir.merge_dims %p {first = 0 : i64, count = 2 : i64} : tensor<2x8xf32> -> tensor<16xf32>
    %a, %b = weir.unpack %flat : tensor<16xf32> -> tensor<6xf32>, tensor<10xf32>
    return %a, %b : tensor<6xf32>, tensor<10xf32>
  }
}

// -----

// The new value of a variable is unpacked to where the old one is, unless that is read later.
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  weir.variable parameter @v : tensor<3x1xf32>
  weir.variable parameter @w : tensor<3x1xf32>
  // CHECK: plan.entry @step
  func.func @step(%x: tensor<3xf32> {weir.input = "x"}) -> (tensor<3x1xf32> {weir.output = "old", weir.part = "tensor"}) {
    // CHECK-DAG: %[[V:.*]] = plan.use @v
    // CHECK-DAG: %[[W:.*]] = plan.use @w
    // CHECK: plan.copy %{{.*}} to %[[ALL:.*]] 12
    // CHECK: %[[SECOND:.*]] = plan.part %[[ALL]] at 12
    // CHECK: plan.copy %{{.*}} to %[[SECOND]] 12
    // CHECK: %[[NEW:.*]] = plan.alloc 12 "unpacked"
    // CHECK: plan.loop 3 round
    // CHECK: %[[TO:.*]] = plan.part %[[V]] at 0 moving
    // CHECK: plan.copy %{{.*}} to %[[TO]] 4
    // CHECK: %[[TO:.*]] = plan.part %[[NEW]] at 0 moving
    // CHECK: %[[FROM:.*]] = plan.part %[[ALL]] at 4 moving with %{{.*}} {moduli = array<i64: 0>, strides = array<i64: 8>}
    // CHECK: plan.copy %[[FROM]] to %[[TO]] 4
    // CHECK: }
    // CHECK: plan.copy %[[W]] to %[[OLD:.*]] 12
    // CHECK: plan.copy %[[NEW]] to %[[W]] 12
    // CHECK: plan.port tensor "old" %[[OLD]]
    %w = weir.read @w : tensor<3x1xf32>
    %p = weir.pack %x, %x : tensor<3xf32>, tensor<3xf32> -> tensor<6xf32>
    %rows = weir.split_dim %p {dimension = 0 : i64, sizes = array<i64: 3, 2>} : tensor<6xf32> -> tensor<3x2xf32>
    %a, %b = weir.unpack %rows : tensor<3x2xf32> -> tensor<3x1xf32>, tensor<3x1xf32>
    weir.write @v, %a : tensor<3x1xf32>
    weir.write @w, %b : tensor<3x1xf32>
    return %w : tensor<3x1xf32>
  }
}
