// RUN: weir-opt --weir-stage-ports %s | FileCheck %s
// RUN: weir-opt --weir-stage-ports --weir-assign-offsets --weir-verify-planned %s | FileCheck %s --check-prefix=PLACED

// Each input is copied on queue 1, the one that is needed first before the others, and is waited for where it is needed. What no
// action reads is not copied. Outputs are copied at the end.
// PLACED: plan.pinned = 320 : i64
module {
  // CHECK-LABEL: plan.entry @step
  plan.entry @step {
    // CHECK: %[[LATE:.*]] = plan.alloc 64 "late" : <scratch>
    // PLACED: plan.alloc 64 "hlate" at 0 from 0 to
    %late = plan.alloc 64 "late" : !plan.buffer<scratch>
    // CHECK: %[[HLATE:.*]] = plan.alloc 64 "hlate" : <pinned>
    // CHECK-NEXT: plan.port input "hlate" %[[HLATE]]
    plan.port input "hlate" %late : tensor<16xf32> in !plan.buffer<scratch>
    // CHECK: %[[EARLY:.*]] = plan.alloc 128 "early" : <scratch>
    %early = plan.alloc 128 "early" : !plan.buffer<scratch>
    // CHECK: %[[HEARLY:.*]] = plan.alloc 128 "hearly" : <pinned>
    // PLACED: plan.alloc 128 "hearly" at 64 from 0 to
    plan.port input "hearly" %early : tensor<32xf32> in !plan.buffer<scratch>
    %unread = plan.alloc 64 "unread" : !plan.buffer<scratch>
    // CHECK: %[[HUNREAD:.*]] = plan.alloc 64 "hunread" : <pinned>
    // CHECK-NEXT: plan.port input "hunread" %[[HUNREAD]]
    plan.port input "hunread" %unread : tensor<16xf32> in !plan.buffer<scratch>
    // CHECK: %[[BEGUN:.*]] = plan.event
    // CHECK-NEXT: plan.record %[[BEGUN]]
    // CHECK-NEXT: plan.wait %[[BEGUN]] {queue = 1 : i64}
    // CHECK-NEXT: plan.copy %[[HEARLY]] to %[[EARLY]] 128 {queue = 1 : i64}
    // CHECK-NEXT: %[[ONE:.*]] = plan.event
    // CHECK-NEXT: plan.record %[[ONE]] {queue = 1 : i64}
    // CHECK-NEXT: plan.copy %[[HLATE]] to %[[LATE]] 64 {queue = 1 : i64}
    // CHECK-NEXT: %[[TWO:.*]] = plan.event
    // CHECK-NEXT: plan.record %[[TWO]] {queue = 1 : i64}
    %round = plan.alloc 4 "round" : !plan.buffer<scratch>
    %sum = plan.alloc 64 "sum" : !plan.buffer<scratch>
    // CHECK: plan.wait %[[ONE]]{{$}}
    // CHECK-NEXT: plan.loop 2
    plan.loop 2 round %round : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      %part = plan.part %early at 0 moving with %i {strides = array<i64: 64>, moduli = array<i64: 0>} : !plan.buffer<scratch>
      plan.copy %part to %sum 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
    }
    // CHECK: plan.wait %[[TWO]]{{$}}
    // CHECK-NEXT: plan.copy %[[LATE]]
    %result = plan.alloc 64 "result" : !plan.buffer<scratch>
    plan.copy %late to %result 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
    // CHECK: %[[OUT:.*]] = plan.alloc 64 "y" : <pinned>
    // CHECK-NEXT: plan.copy %{{.*}} to %[[OUT]] 64 : <scratch> to <pinned>
    // CHECK-NEXT: plan.port tensor "y" %[[OUT]]
    plan.port tensor "y" %result : tensor<16xf32> in !plan.buffer<scratch>
  }
}
