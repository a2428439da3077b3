// RUN: weir-opt --weir-strategy="mesh=pp=2,tp=2 rates=1TFLOP/s,1TB/s,pp=1GB/s,1GB/s,5us,tp=100GB/s,100GB/s,5us" --weir-cross-stages %s | FileCheck %s
// RUN: weir-opt --weir-strategy="mesh=pp=2,tp=2" --weir-cross-stages %s | FileCheck %s --check-prefix=ALIKE

// Where links between stages are slow, ranks of tp send a part each, of what they all have.
module {
  weir.variable parameter @w0 {weir.stage = 0 : i64} : tensor<64x64xf32>
  weir.variable parameter @w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
  func.func @step(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %w0 = weir.read @w0 : tensor<64x64xf32>
    %w1 = weir.read @w1 : tensor<64x64xf32>
    // CHECK: weir.stage_transfer %{{.*}} from 0 to 1 number 1 {weir.factor_sharding = #weir.sharding<[64, 64@tp]>}
    // ALIKE: weir.stage_transfer %{{.*}} from 0 to 1 number 1 :
    %h = weir.mul %x, %w0 {weir.stage = 0 : i64} : tensor<64x64xf32>
    %y = weir.mul %h, %w1 {weir.stage = 1 : i64} : tensor<64x64xf32>
    // What is small is sent whole.
    // CHECK: weir.stage_transfer %{{.*}} from 0 to 1 number 2 : tensor<64xf32>
    %few = weir.reduce sum %h {axes = array<i64: 0>, weir.stage = 0 : i64} : tensor<64x64xf32> -> tensor<64xf32>
    %spread = weir.broadcast %few {dimensions = array<i64: 1>, weir.stage = 1 : i64} : tensor<64xf32> -> tensor<64x64xf32>
    %z = weir.mul %y, %spread {weir.stage = 1 : i64} : tensor<64x64xf32>
    %s = weir.reduce sum %z {axes = array<i64: 0, 1>} : tensor<64x64xf32> -> tensor<f32>
    %all = weir.broadcast %s {dimensions = array<i64>} : tensor<f32> -> tensor<64x64xf32>
    return %all : tensor<64x64xf32>
  }
}
