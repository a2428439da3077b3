// RUN: weir-opt --weir-strategy="memory=1000000" --weir-overlap-transfers %s | FileCheck %s
// RUN: weir-opt --weir-strategy="memory=1000000" --weir-overlap-transfers --weir-assign-offsets --weir-verify-planned %s
// RUN: weir-opt --weir-strategy="memory=1000000" --weir-overlap-transfers %s | sed "/plan.wait %[0-9a-z]*$/d" | not weir-opt --weir-assign-offsets --weir-verify-planned 2>&1 | FileCheck %s --check-prefix=UNORDERED

// What is fetched is asked for while something else is copied, and waited for where it is used; what is put there is waited for
// later. Without its event a fetch is a fault that is named.
// UNORDERED: entry 'step': {{.*}} it {{reads|writes}} bytes {{.*}} and nothing puts the two in order
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  // CHECK-LABEL: plan.entry @step
  plan.entry @step {
    %m = plan.use @m : !plan.buffer<host>
    %x = plan.alloc 65536 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16384xf32> in !plan.buffer<scratch>
    %y = plan.alloc 65536 "y" : !plan.buffer<scratch>
    %z = plan.alloc 16384 "z" : !plan.buffer<scratch>
    // CHECK: plan.record %[[FREE:.*]]
    // CHECK-NEXT: plan.wait %[[FREE]] {queue = 1 : i64}
    // CHECK-NEXT: %[[RELOADED:.*]] = plan.alloc 16384 "reloaded"
    // CHECK-NEXT: plan.copy %{{.*}} to %[[RELOADED]] 16384 {queue = 1 : i64} : <host> to <scratch>
    // CHECK-NEXT: plan.record %[[THERE:.*]] {queue = 1 : i64}
    // CHECK-NEXT: plan.copy %{{.*}} to %{{.*}} 65536
    plan.copy %x to %y 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %reloaded = plan.alloc 16384 "reloaded" : !plan.buffer<scratch>
    plan.copy %m to %reloaded 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    // CHECK-NEXT: plan.wait %[[THERE]]{{$}}
    // CHECK-NEXT: plan.copy %[[RELOADED]] to %[[Z:.*]] 16384
    plan.copy %reloaded to %z 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK-NEXT: plan.record %[[MADE:.*]]
    // CHECK-NEXT: plan.wait %[[MADE]] {queue = 2 : i64}
    // CHECK-NEXT: plan.copy %[[Z]] to %{{.*}} 16384 {queue = 2 : i64} : <scratch> to <host>
    // CHECK-NEXT: plan.record %[[GONE:.*]] {queue = 2 : i64}
    plan.copy %z to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    %out = plan.alloc 65536 "out" : !plan.buffer<scratch>
    // CHECK: plan.copy %{{.*}} to %{{.*}} 65536
    plan.copy %y to %out 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: plan.wait %[[GONE]]{{$}}
    plan.port tensor "out" %out : tensor<16384xf32> in !plan.buffer<scratch>
  }
}
