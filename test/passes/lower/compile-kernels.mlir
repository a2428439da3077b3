// RUN: weir-opt --weir-fuse --weir-lower-to-plan --weir-assign-offsets --weir-compile-kernels %s | FileCheck %s
// RUN: not weir-opt --weir-compile-kernels=target=cpu:x86-64-v9 %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s

// UNKNOWN: target cpu:x86-64-v9: expected cpu:x86-64-v3, cpu:x86-64-v4, cpu:x86-64-v4+bf16 or cpu:x86-64-v4+bf16+amx, or cpu on a machine with at least x86-64-v3

// The code of all kernels, an ELF object, is one resource of the module.
// CHECK: plan.kernel map @kernel_0
// CHECK: plan.blob dense_resource<code> : tensor<{{[0-9]+}}xui8>
// CHECK: code: "0x10000000{{7F454C46}}
func.func @step(%x: tensor<8xf32> {weir.input = "x"}) -> (tensor<8xf32> {weir.output = "y", weir.part = "tensor"}) {
  %y = weir.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
