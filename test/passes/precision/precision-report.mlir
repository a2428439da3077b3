// RUN: weir-opt --weir-strategy="precision=bf16" --weir-mixed-precision %s | FileCheck %s
// RUN: weir-opt --weir-mixed-precision %s | FileCheck %s --check-prefix=F32

// Why each op of @step computes and stores what it does, by line.
// F32-NOT: it multiplies bf16
// CHECK: weir.choices = [
// CHECK-SAME: "cast", 1, f32, bf16, "what a product multiplies"]
// CHECK-SAME: "parameter", 1, f32, f32, "parameters stay f32"]
// CHECK-SAME: "cast", 1, f32, bf16, "what a product multiplies, cast once a step"]
// CHECK-SAME: "matmul", 1, bf16, bf16, "it multiplies bf16, its sums are f32"]
// CHECK-SAME: "cast", 1, f32, bf16, "what a product gives"]
// CHECK-SAME: "exp", 1, f32, f32, "elementwise work is f32"]
// CHECK-SAME: "cast", 1, f32, bf16, "what a composite's gradient reads"]
// CHECK-SAME: "normalize", 1, f32, f32, "it reads f32"]
// CHECK-SAME: "matmul", 1, f32, f32, "it multiplies f32; pinned by line 31"]
// CHECK-SAME: "reduce", 1, f32, f32, "sums stay f32"]
// CHECK-SAME: "normalize_grad", 1, f32, bf16, "it reads what was rounded to bf16, its sums are f32"]
// CHECK-SAME: "cast", 1, f32, bf16, "what a product multiplies"]
// CHECK-SAME: "matmul", 1, bf16, f32, "it multiplies bf16, its sums are f32; a gradient leaves it in f32"]
// CHECK-SAME: "add", 1, f32, f32, "the optimizer"]
// The pins are gone.
// CHECK-NOT: weir.pin

weir.variable parameter @w : tensor<8x8xf32> loc("m.weir":2:3)
func.func @step(%x: tensor<4x8xf32> loc("m.weir":1:3)) -> (tensor<f32>, tensor<f32>) {
  %w = weir.read @w : tensor<8x8xf32> loc("m.weir":2:3)
  %y = weir.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> loc("m.weir":4:3)
  %a = weir.exp %y : tensor<4x8xf32> loc("m.weir":5:3)
  %n, %mean, %rstd = weir.normalize %a {eps = 1.0e-5 : f64} : tensor<4x8xf32> -> tensor<4xf32> loc("m.weir":6:3)
  %z = weir.matmul %n, %w {weir.pin = "f32", weir.pinned_at = loc("m.weir":31:3)} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> loc("m.weir":7:3)
  %s = weir.reduce sum %z {axes = array<i64: 0, 1>} : tensor<4x8xf32> -> tensor<f32> loc("m.weir":8:3)
  %d = weir.normalize_grad %a, %mean, %rstd, %z : tensor<4x8xf32>, tensor<4xf32> loc("m.weir":9:3)
  %g = weir.matmul %x, %d {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> loc("m.weir":9:3)
  %norm = weir.clip (%g) : (tensor<8x8xf32>) -> tensor<f32>
  %next = weir.add %w, %g : tensor<8x8xf32> loc("m.weir":10:3)
  weir.write @w, %next : tensor<8x8xf32>
  return %s, %norm : tensor<f32>, tensor<f32>
}
