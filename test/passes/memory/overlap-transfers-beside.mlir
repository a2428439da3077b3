// RUN: weir-opt --weir-strategy="memory=1000000" --weir-overlap-transfers %s | FileCheck %s

// A collective on a queue of its own has the place of what is put: queue 0 waits for that ahead of what it tells the other queue.
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  // CHECK-LABEL: plan.entry @step
  plan.entry @step {
    %m = plan.use @m : !plan.buffer<host>
    %made = plan.event
    %done = plan.event
    %x = plan.alloc 65536 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16384xf32> in !plan.buffer<scratch>
    %y = plan.alloc 65536 "y" : !plan.buffer<scratch>
    %z = plan.alloc 16384 "z" : !plan.buffer<scratch>
    plan.copy %x to %z 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: plan.record %[[GONE:.*]] {queue = 2 : i64}
    plan.copy %z to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    // CHECK-NEXT: plan.copy
    plan.copy %x to %y 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK-NEXT: plan.wait %[[GONE]]{{$}}
    // CHECK-NEXT: plan.record %[[MADE:.*]]
    // CHECK-NEXT: plan.wait %[[MADE]] {queue = 3 : i64}
    // CHECK-NEXT: plan.collective
    plan.record %made
    plan.wait %made {queue = 3 : i64}
    plan.collective all_gather over "dp" %y to %z bytes [8192, 8192] own 8192 of f32 {queue = 3 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.record %done {queue = 3 : i64}
    plan.wait %done
    plan.port tensor "out" %z : tensor<4096xf32> in !plan.buffer<scratch>
  }
}
