// RUN: not weir-opt --weir-strategy="param-dtype=bf16" --weir-bf16-parameters %s 2>&1 | FileCheck %s

weir.variable parameter @w : tensor<3xf32>

// CHECK: error: masters are rounded by the run's seed and step, but there is no variable @"run/seed"
func.func @step(%x: tensor<3xf32>) {
  weir.write @w, %x : tensor<3xf32>
  return
}
