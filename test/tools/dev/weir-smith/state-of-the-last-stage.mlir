// RUN: weir-smith %s | FileCheck %s
// CHECK: agrees

// The last stage computes a state that the first stage reads in the next microbatch. An interleaved
// schedule refuses that, rightly.
module attributes {smith.offload, smith.room = 3.000000e-01 : f64, smith.seed = 93000590002 : i64, smith.strategy = #weir.strategy<"mesh=pp=2 schedule=interleaved:3">, weir.accumulate = 2 : i64, weir.batch = 1 : i64, weir.configs = {}, weir.epochs = 0 : i64, weir.model = "smith", weir.recompute = [""], weir.steps = 1 : i64} {
  weir.variable run @"run/seed" {smith.high = 0x4130000000000000 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/step" {smith.high = 3.000000e+01 : f64, smith.low = 0.000000e+00 : f64} : tensor<i32>
  weir.variable run @"run/total_steps" {smith.high = 1.000000e+02 : f64, smith.low = 5.000000e+01 : f64} : tensor<i32>
  weir.variable parameter @p0 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<3x3xf32>
  weir.variable parameter @p3 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<8xf32>
  weir.variable state @s18 {smith.high = 1.000000e+00 : f64, smith.low = -1.000000e+00 : f64} : tensor<3xf32>
  func.func @step() -> (tensor<3x3xf32> {weir.output = "gradient/p0", weir.part = "tensor"}, tensor<8xf32> {weir.output = "gradient/p3", weir.part = "tensor"}, tensor<f32> {weir.output = "loss", weir.part = "sum", weir.term = 0 : i64, weir.weight = 1.000000e+00 : f64}, tensor<f32> {weir.output = "loss", weir.part = "count", weir.term = 0 : i64, weir.weight = 1.000000e+00 : f64}, tensor<f32> {weir.output = "lr", weir.part = "scalar"}, tensor<f32> {weir.output = "grad_norm", weir.part = "scalar"}, tensor<f32> {weir.output = "skipped", weir.part = "scalar"}) {
    %0 = weir.read @s18 : tensor<3xf32>
    %1 = weir.read @"run/step" : tensor<i32>
    %2 = weir.read @p3 : tensor<8xf32>
    %3 = weir.read @p0 : tensor<3x3xf32>
    %4 = weir.sign %3 : tensor<3x3xf32>
    %5 = weir.normal_cdf %2 : tensor<8xf32>
    %6 = weir.constant 8.000000e+00 : f32 -> tensor<f32>
    %7:2 = weir.microbatches 2 sliced() carried(%0) : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
    ^bb0(%arg0: tensor<i32>, %arg1: tensor<3xf32>):
      %31 = weir.mul %4, %4 : tensor<3x3xf32>
      %32 = weir.constant 5.000000e-01 : f32 -> tensor<3x3xf32>
      %33 = weir.add %31, %32 : tensor<3x3xf32>
      %34 = weir.sqrt %33 : tensor<3x3xf32>
      %35 = weir.cos %34 : tensor<3x3xf32>
      %36 = weir.cast %5 : tensor<8xf32> -> tensor<8xf32>
      %37 = weir.broadcast %arg1 {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<5x3xf32>
      %38 = weir.concat %37, %35 {dimension = 0 : i64} : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<8x3xf32>
      %39 = weir.constant 7.500000e-01 : f32 -> tensor<3xf32>
      %40 = weir.mul %arg1, %39 : tensor<3xf32>
      %41 = weir.constant 2.500000e-01 : f32 -> tensor<3xf32>
      %42 = weir.mul %arg1, %41 : tensor<3xf32>
      %43 = weir.add %40, %42 : tensor<3xf32>
      %44 = weir.mul %36, %36 : tensor<8xf32>
      %45 = weir.reduce sum %44 {axes = array<i64: 0>} : tensor<8xf32> -> tensor<f32>
      %46 = weir.mul %38, %38 : tensor<8x3xf32>
      %47 = weir.reduce sum %46 {axes = array<i64: 0, 1>} : tensor<8x3xf32> -> tensor<f32>
      %48 = weir.add %45, %47 : tensor<f32>
      weir.yield %48, %43 : tensor<f32>, tensor<3xf32>
    }
    %8 = weir.loss [1.000000e+00] sums(%7#0) counts(%6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %9:2 = weir.gradient %8 wrt(%3, %2) : (tensor<f32>, tensor<3x3xf32>, tensor<8xf32>) -> (tensor<3x3xf32>, tensor<8xf32>)
    %10 = weir.constant 7.500000e-01 : f32 -> tensor<f32>
    %norm, %clipped:2 = weir.clip(%9#0, %9#1) to %10 : (tensor<3x3xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<f32>, tensor<3x3xf32>, tensor<8xf32>)
    %11 = weir.cast %1 : tensor<i32> -> tensor<f32>
    %12 = weir.constant 8.000000e+00 : f32 -> tensor<f32>
    %13 = weir.compare lt %11, %12 : tensor<f32> -> tensor<i1>
    %14 = weir.constant 1.000000e+00 : f32 -> tensor<f32>
    %15 = weir.add %11, %14 : tensor<f32>
    %16 = weir.constant 6.250000e-02 : f32 -> tensor<f32>
    %17 = weir.mul %15, %16 : tensor<f32>
    %18 = weir.constant 5.000000e-01 : f32 -> tensor<f32>
    %19 = weir.select %13, %17, %18 : tensor<i1>, tensor<f32>
    %20 = weir.broadcast %19 {dimensions = array<i64>} : tensor<f32> -> tensor<3x3xf32>
    %21 = weir.mul %20, %clipped#0 : tensor<3x3xf32>
    %22 = weir.sub %3, %21 : tensor<3x3xf32>
    %23 = weir.broadcast %19 {dimensions = array<i64>} : tensor<f32> -> tensor<8xf32>
    %24 = weir.mul %23, %clipped#1 : tensor<8xf32>
    %25 = weir.sub %2, %24 : tensor<8xf32>
    %26 = weir.all_finite %8, %norm, %19, %7#1, %22, %25 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<3x3xf32>, tensor<8xf32>
    weir.write @s18, %7#1 if %26 : tensor<3xf32>
    weir.write @p0, %22 if %26 : tensor<3x3xf32>
    weir.write @p3, %25 if %26 : tensor<8xf32>
    %27 = weir.constant 1 : i32 -> tensor<i32>
    %28 = weir.add %1, %27 : tensor<i32>
    weir.write @"run/step", %28 : tensor<i32>
    %29 = weir.not %26 : tensor<i1>
    %30 = weir.cast %29 : tensor<i1> -> tensor<f32>
    return %9#0, %9#1, %7#0, %6, %19, %norm, %30 : tensor<3x3xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func @init() {
    %0 = weir.read @"run/seed" : tensor<i32>
    %1 = weir.constant 0 : i32 -> tensor<i32>
    %2 = weir.random uniform seed %0 step %1 round %1 {key = 69 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3xf32>
    %3 = weir.constant 2.500000e-01 : f32 -> tensor<3x3xf32>
    %4 = weir.mul %2, %3 : tensor<3x3xf32>
    %5 = weir.constant 5.000000e-01 : f32 -> tensor<3x3xf32>
    %6 = weir.add %4, %5 : tensor<3x3xf32>
    weir.write @p0, %6 : tensor<3x3xf32>
    %7 = weir.constant 0 : i32 -> tensor<i32>
    %8 = weir.random uniform seed %0 step %7 round %7 {key = 77 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
    %9 = weir.constant 2.500000e-01 : f32 -> tensor<3xf32>
    %10 = weir.mul %8, %9 : tensor<3xf32>
    weir.write @s18, %10 : tensor<3xf32>
    return
  }
}
