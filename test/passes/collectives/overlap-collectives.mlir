// RUN: weir-opt --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives %s | FileCheck %s
// RUN: weir-opt --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives --weir-assign-offsets --weir-verify-planned %s
// RUN: weir-opt --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives %s | sed "/plan.wait %[0-9a-z]*$/d" | not weir-opt --weir-assign-offsets --weir-verify-planned 2>&1 | FileCheck %s --check-prefix=NOT-AWAITED
// RUN: weir-opt --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives %s | sed "/plan.wait .*queue = 3/d" | not weir-opt --weir-assign-offsets --weir-verify-planned 2>&1 | FileCheck %s --check-prefix=NOT-BEGUN

// A gradient that is made first and used last is exchanged beside what is computed between, and so is the sum of its parts.
// Without its event either side is a fault that is named.
// NOT-AWAITED: entry 'step': {{.*}}nothing puts the two in order
// NOT-BEGUN: entry 'step': {{.*}}queue used before it waits for queue 0
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  // CHECK-LABEL: plan.entry @step
  plan.entry @step {
    %x = plan.alloc 65536 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16384xf32> in !plan.buffer<scratch>
    %gradient = plan.alloc 8192 "gradient" : !plan.buffer<scratch>
    // CHECK: plan.copy %{{.*}} to %[[GRADIENT:.*]] 8192
    plan.copy %x to %gradient 8192 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK-NEXT: plan.record %[[MADE:[0-9]+]]{{$}}
    // CHECK-NEXT: plan.wait %[[MADE]] {queue = 3 : i64}
    // CHECK-NEXT: %[[PARTS:.*]] = plan.alloc 8192 "of all ranks"
    // CHECK-NEXT: plan.collective all_to_all over "dp" %[[GRADIENT]] to %[[PARTS]] {{.*}}queue = 3
    // CHECK-NEXT: plan.record %[[THERE:[0-9]+]] {queue = 3 : i64}
    // CHECK: plan.copy %{{.*}} to %[[Y:.*]] 65536
    %y = plan.alloc 65536 "y" : !plan.buffer<scratch>
    plan.copy %x to %y 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %z = plan.alloc 65536 "z" : !plan.buffer<scratch>
    plan.copy %y to %z 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %parts = plan.alloc 8192 "of all ranks" : !plan.buffer<scratch>
    plan.collective all_to_all over "dp" %gradient to %parts bytes [4096, 4096] own 4096 of f32 {number = 1 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: plan.wait %[[THERE]]{{$}}
    // CHECK: plan.copy %[[PARTS]] to %[[SUM:.*]] 4096
    %sum = plan.alloc 4096 "sum" : !plan.buffer<scratch>
    plan.copy %parts to %sum 4096 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: plan.collective all_gather over "dp" %[[SUM]] to %[[WHOLE:.*]] bytes
    %whole = plan.alloc 8192 "of all ranks" : !plan.buffer<scratch>
    plan.collective all_gather over "dp" %sum to %whole bytes [4096, 4096] own 4096 of f32 {number = 2 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: plan.port tensor "z"
    // CHECK-NEXT: plan.port tensor "whole" %[[WHOLE]]
    plan.port tensor "z" %z : tensor<16384xf32> in !plan.buffer<scratch>
    plan.port tensor "whole" %whole : tensor<2048xf32> in !plan.buffer<scratch>
  }

  // Nothing could go on beside it: it stays where it is.
  // CHECK-LABEL: plan.entry @eval
  // CHECK-NOT: queue
  // CHECK: plan.port tensor
  plan.entry @eval {
    %x = plan.alloc 4096 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<1024xf32> in !plan.buffer<scratch>
    %all = plan.alloc 8192 "of all ranks" : !plan.buffer<scratch>
    plan.collective all_gather over "dp" %x to %all bytes [4096, 4096] own 4096 of f32 {number = 1 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.port tensor "all" %all : tensor<2048xf32> in !plan.buffer<scratch>
  }
}
