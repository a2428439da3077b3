// RUN: weir-opt --split-input-file --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives %s | FileCheck %s
// RUN: weir-opt --split-input-file --weir-strategy="link=1GB/s,1us" --weir-overlap-collectives --weir-assign-offsets --weir-verify-planned %s | FileCheck %s --check-prefix=PLACES

// In a loop what begins in a round is waited for in that round, and its memory is another's from there on.
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  plan.variable parameter @w : tensor<1024xf32>
  plan.entry @step {
    %x = plan.alloc 131072 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<32768xf32> in !plan.buffer<scratch>
    %w = plan.use @w : !plan.buffer<persistent>
    %y = plan.alloc 65536 "y" : !plan.buffer<scratch>
    %round = plan.alloc 4 "round" : !plan.buffer<scratch>
    // CHECK: plan.loop 2
    plan.loop 2 round %round : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      %part = plan.part %x at 0 moving with %i {strides = array<i64: 65536>, moduli = array<i64: 0>} : !plan.buffer<scratch>
      // CHECK: plan.wait %{{[0-9]+}} {queue = 3 : i64}
      // CHECK: plan.collective all_gather over "dp" %{{.*}} to %[[ALL:.*]] bytes {{.*}}queue = 3
      // CHECK-NEXT: plan.record %[[THERE:[0-9]+]] {queue = 3 : i64}
      // CHECK: plan.copy %{{.*}} to %{{.*}} 65536
      plan.copy %part to %y 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
      // PLACES: plan.alloc 8192 "of all ranks" at [[AT:[0-9]+]]
      %all = plan.alloc 8192 "of all ranks" : !plan.buffer<scratch>
      plan.collective all_gather over "dp" %w to %all bytes [4096, 4096] own 4096 of f32 {number = 1 : i64} : !plan.buffer<persistent> to !plan.buffer<scratch>
      // CHECK: plan.wait %[[THERE]]{{$}}
      // CHECK-NEXT: plan.copy %[[ALL]] to %{{.*}} 8192
      plan.copy %all to %y 8192 : !plan.buffer<scratch> to !plan.buffer<scratch>
      // PLACES: plan.alloc 8192 "later" at [[AT]]
      %later = plan.alloc 8192 "later" : !plan.buffer<scratch>
      plan.copy %y to %later 8192 : !plan.buffer<scratch> to !plan.buffer<scratch>
      plan.copy %later to %y 8192 : !plan.buffer<scratch> to !plan.buffer<scratch>
    }
    plan.port tensor "y" %y : tensor<16384xf32> in !plan.buffer<scratch>
  }
}

// -----

// What is made of a batch ahead of the loop is not there whenever one likes, as a variable is: what waits for nothing goes on beside what is
// exchanged of it.
// CHECK: plan.alloc {{.*}}"made"
module attributes {weir.mesh = #weir.mesh<dp = 2>} {
  plan.entry @step {
    %x = plan.alloc 131072 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<32768xf32> in !plan.buffer<scratch>
    %made = plan.alloc 131072 "made" : !plan.buffer<scratch>
    plan.copy %x to %made 131072 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %y = plan.alloc 65536 "y" : !plan.buffer<scratch>
    %sum = plan.alloc 131072 "sum" : !plan.buffer<scratch>
    %round = plan.alloc 4 "round" : !plan.buffer<scratch>
    // CHECK: plan.loop 2
    plan.loop 2 round %round : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      %part = plan.part %made at 0 moving with %i {strides = array<i64: 65536>, moduli = array<i64: 0>} : !plan.buffer<scratch>
      %all = plan.alloc 131072 "of all ranks" : !plan.buffer<scratch>
      // CHECK: plan.collective all_gather over "dp" %{{.*}} to %[[ALL:[0-9]+]]
      plan.collective all_gather over "dp" %part to %all bytes [65536, 65536] own 65536 of f32 {number = 1 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
      %beside = plan.alloc 131072 "beside" : !plan.buffer<scratch>
      plan.copy %all to %beside 131072 : !plan.buffer<scratch> to !plan.buffer<scratch>
      // CHECK: plan.collective all_gather over "dp" %[[ALL]] to %[[NEXT:[0-9]+]]
      // CHECK: plan.copy %[[ALL]] to %[[BESIDE:[0-9]+]]
      // CHECK: plan.copy %[[BESIDE]]
      // CHECK: plan.copy %[[NEXT]]
      %next = plan.alloc 131072 "of all ranks" : !plan.buffer<scratch>
      plan.collective all_gather over "dp" %all to %next bytes [65536, 65536] own 65536 of f32 {number = 2 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
      plan.copy %next to %y 65536 : !plan.buffer<scratch> to !plan.buffer<scratch>
      plan.copy %beside to %sum 131072 : !plan.buffer<scratch> to !plan.buffer<scratch>
    }
    plan.port tensor "y" %y : tensor<16384xf32> in !plan.buffer<scratch>
    plan.port tensor "sum" %sum : tensor<32768xf32> in !plan.buffer<scratch>
  }
}
