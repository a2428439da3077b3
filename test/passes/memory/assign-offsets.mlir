// RUN: weir-opt --weir-assign-offsets %s | FileCheck %s

// Variables come first. %a and %c are never alive together and share a place; what a loop uses from outside lasts for all of
// its rounds.
// CHECK: module attributes {plan.arena = 320 : i64, plan.persistent = 128 : i64}
module {
  // CHECK: plan.variable parameter @p at 0
  plan.variable parameter @p : tensor<4xf32>
  // CHECK: plan.variable parameter @q at 64
  plan.variable parameter @q : tensor<16xf32>
  plan.entry @step {
    %p = plan.use @p : !plan.buffer<persistent>
    // CHECK: plan.alloc 64 "a" at 256 from 0 to 1
    %a = plan.alloc 64 "a" : !plan.buffer<scratch>
    // CHECK: plan.alloc 100 "b" at 128 from 1 to 2
    %b = plan.alloc 100 "b" : !plan.buffer<scratch>
    // CHECK: plan.alloc 64 "c" at 256 from 2 to 5
    %c = plan.alloc 64 "c" : !plan.buffer<scratch>
    // CHECK: plan.alloc 4 "round" at 128 from 3 to 5
    %round = plan.alloc 4 "round" : !plan.buffer<scratch>
    // A buffer that no action uses is none, nor are parts of it.
    // CHECK-NOT: unused
    %unused = plan.alloc 4096 "unused" : !plan.buffer<scratch>
    %part = plan.part %unused at 64 : !plan.buffer<scratch>
    plan.part %part at 64 : !plan.buffer<scratch>
    plan.copy %p to %a 16 : !plan.buffer<persistent> to !plan.buffer<scratch>
    plan.copy %a to %b 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.copy %b to %c 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.loop 3 round %round : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      // CHECK: plan.alloc 64 "inside" at 192 from 4 to 5
      %inside = plan.alloc 64 "inside" : !plan.buffer<scratch>
      plan.copy %c to %inside 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
      plan.copy %inside to %p 16 : !plan.buffer<scratch> to !plan.buffer<persistent>
    }
  }
}
