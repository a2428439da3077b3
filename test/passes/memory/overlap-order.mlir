// RUN: weir-opt --weir-strategy="memory=1000000" --weir-overlap-transfers --weir-assign-offsets --weir-verify-planned --split-input-file %s | FileCheck %s

// A transfer moves past nothing that touches what it copies from or to.

// A put, and a fetch of the same.
// CHECK: plan.copy {{.*}} : <scratch> to <host>
// CHECK: plan.copy {{.*}} : <host> to <scratch>
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  plan.entry @step {
    %m = plan.use @m : !plan.buffer<host>
    %x = plan.alloc 16384 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<4096xf32> in !plan.buffer<scratch>
    plan.copy %x to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    %s = plan.alloc 16384 "s" : !plan.buffer<scratch>
    plan.copy %m to %s 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    plan.port tensor "out" %s : tensor<4096xf32> in !plan.buffer<scratch>
  }
}

// -----

// A buffer that is fetched into twice.
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  plan.entry @step {
    %m = plan.use @m : !plan.buffer<host>
    %x = plan.alloc 16384 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<4096xf32> in !plan.buffer<scratch>
    %s = plan.alloc 16384 "s" : !plan.buffer<scratch>
    plan.copy %m to %s 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    %h = plan.alloc 16384 "h" : !plan.buffer<host>
    plan.copy %s to %h 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    plan.copy %m to %s 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    plan.copy %x to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    %t = plan.alloc 16384 "t" : !plan.buffer<scratch>
    plan.copy %h to %t 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    %u = plan.alloc 16384 "u" : !plan.buffer<scratch>
    plan.copy %t to %u 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %v = plan.alloc 16384 "v" : !plan.buffer<scratch>
    plan.copy %s to %v 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.port tensor "out" %u : tensor<4096xf32> in !plan.buffer<scratch>
  }
}

// -----

// A loop that fetches what was put, and one that puts what is fetched behind it.
// CHECK-LABEL: plan.entry @loops
// CHECK: plan.copy {{.*}} : <scratch> to <host>
// CHECK-NEXT: plan.loop
// CHECK: plan.loop
// CHECK: plan.copy {{.*}} : <host> to <scratch>
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  plan.entry @loops {
    %m = plan.use @m : !plan.buffer<host>
    %x = plan.alloc 16384 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<4096xf32> in !plan.buffer<scratch>
    %r = plan.alloc 4 "r" : !plan.buffer<scratch>
    plan.copy %x to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    plan.loop 4 round %r : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      %s = plan.alloc 16384 "s" : !plan.buffer<scratch>
      plan.copy %m to %s 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    }
    plan.loop 4 round %r : !plan.buffer<scratch> {
    ^bb0(%i: !plan.index):
      plan.copy %x to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    }
    %t = plan.alloc 16384 "t" : !plan.buffer<scratch>
    plan.copy %m to %t 16384 : !plan.buffer<host> to !plan.buffer<scratch>
    plan.port tensor "out" %t : tensor<4096xf32> in !plan.buffer<scratch>
  }
}

// -----

// What is put is written to again right behind.
module {
  plan.variable optimizer @m on host : tensor<4096xf32>
  plan.entry @step {
    %m = plan.use @m : !plan.buffer<host>
    %x = plan.alloc 16384 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<4096xf32> in !plan.buffer<scratch>
    %z = plan.alloc 16384 "z" : !plan.buffer<scratch>
    plan.copy %x to %z 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.copy %z to %m 16384 : !plan.buffer<scratch> to !plan.buffer<host>
    plan.copy %x to %z 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    %out = plan.alloc 16384 "out" : !plan.buffer<scratch>
    plan.copy %z to %out 16384 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.port tensor "out" %out : tensor<4096xf32> in !plan.buffer<scratch>
  }
}
