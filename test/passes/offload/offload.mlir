// RUN: weir-opt --weir-strategy="offload=optimizer" --weir-offload %s | FileCheck %s
// RUN: weir-opt --weir-strategy="offload=parameters" --weir-offload %s | FileCheck %s --check-prefix=ALL
// RUN: weir-opt --weir-offload %s | FileCheck %s --check-prefix=NONE

// NONE-NOT: weir.reload
// NONE-NOT: on host

// CHECK: weir.variable parameter @w : tensor<512xf32>
// ALL: weir.variable parameter @w on host : tensor<512xf32>
weir.variable parameter @w : tensor<512xf32>
// CHECK: weir.variable optimizer @m on host : tensor<512xf32>
weir.variable optimizer @m : tensor<512xf32>
// What is small is not worth a transfer.
// CHECK: weir.variable optimizer @small : tensor<4xf32>
// ALL: weir.variable optimizer @small : tensor<4xf32>
weir.variable optimizer @small : tensor<4xf32>

// Each kernel has what it reads fetched ahead of it, in the shape that it wants; what is written goes as soon as it is made and
// nobody wants the old value.
// CHECK-LABEL: func @step
func.func @step(%x: tensor<512xf32> {weir.input = "x"}) -> (tensor<512xf32> {weir.output = "y", weir.part = "tensor"}) {
  // CHECK: %[[M:.*]] = weir.read @m
  %m = weir.read @m : tensor<512xf32>
  %w = weir.read @w : tensor<512xf32>
  // CHECK: %[[ONE:.*]] = weir.reload %[[M]]
  // CHECK-NEXT: %[[NEXT:.*]] = weir.kernel map(%[[ONE]],
  // ALL: weir.reload
  // ALL-NEXT: weir.reload
  // ALL-NEXT: weir.kernel
  %next = weir.kernel map(%m, %w) : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32> {
  ^bb0(%a: tensor<512xf32>, %b: tensor<512xf32>):
    %0 = weir.add %a, %b : tensor<512xf32>
    weir.yield %0 : tensor<512xf32>
  }
  // CHECK: weir.kernel map(%{{.*}})
  %far = weir.kernel map(%x) : (tensor<512xf32>) -> tensor<512xf32> {
  ^bb0(%a: tensor<512xf32>):
    %0 = weir.exp %a : tensor<512xf32>
    weir.yield %0 : tensor<512xf32>
  }
  // CHECK: %[[TWO:.*]] = weir.reload %[[M]]
  // CHECK-NEXT: weir.write @m, %[[NEXT]]
  // CHECK-NEXT: %[[SHOWN:.*]] = weir.{{.*}} %[[TWO]]
  // CHECK-NEXT: weir.kernel map(%[[SHOWN]]
  %shown = weir.split_dim %m {dimension = 0 : i64, sizes = array<i64: 2, 256>} : tensor<512xf32> -> tensor<2x256xf32>
  %y = weir.kernel map(%shown, %far) : (tensor<2x256xf32>, tensor<512xf32>) -> tensor<512xf32> {
  ^bb0(%a: tensor<2x256xf32>, %b: tensor<512xf32>):
    %0 = weir.merge_dims %a {first = 0 : i64, count = 2 : i64} : tensor<2x256xf32> -> tensor<512xf32>
    %1 = weir.mul %0, %b : tensor<512xf32>
    weir.yield %1 : tensor<512xf32>
  }
  weir.write @m, %next : tensor<512xf32>
  return %y : tensor<512xf32>
}
