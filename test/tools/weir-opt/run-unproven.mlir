// A plan is proven before any of it runs, with the places that it has or with some that are chosen.
// RUN: weir-opt %s --run --input=16xf32=1 --split-input-file --verify-diagnostics

plan.entry @no_places {
  %x = plan.alloc 64 "x" : !plan.buffer<scratch>
  %y = plan.alloc 64 "y" : !plan.buffer<scratch>
  plan.port input "x" %x : tensor<16xf32> in !plan.buffer<scratch>
  %before = plan.part %x at -1000000 : !plan.buffer<scratch>
  // expected-error @below {{access outside its buffer: action 0 'copy' on queue 0, access 'from' to buffer 0 'x': it takes bytes [-1000000, -999936) of 64}}
  plan.copy %before to %y 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
  plan.port tensor "y" %y : tensor<16xf32> in !plan.buffer<scratch>
}

// -----

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @places {
    %x = plan.alloc 64 "x" at 0 from 0 to 0 : !plan.buffer<scratch>
    %y = plan.alloc 4 "y" at 64 from 0 to 0 : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16xf32> in !plan.buffer<scratch>
    // expected-error @below {{access outside its buffer: action 0 'copy' on queue 0, access 'to' to buffer 1 'y': it takes bytes [0, 64) of 4}}
    plan.copy %x to %y 64 : !plan.buffer<scratch> to !plan.buffer<scratch>
    plan.port tensor "y" %y : tensor<f32> in !plan.buffer<scratch>
  }
}

// -----

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @without_a_place {
    // expected-error @below {{has no place yet: --weir-assign-offsets gives it one}}
    %x = plan.alloc 64 "x" : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16xf32> in !plan.buffer<scratch>
  }
}

// -----

// expected-error @below {{is no placed plan: expected plan.persistent and plan.arena, in bytes}}
module attributes {plan.arena = 128 : i64} {
  plan.entry @without_a_size {
    %x = plan.alloc 64 "x" at 0 from 0 to 0 : !plan.buffer<scratch>
    plan.port input "x" %x : tensor<16xf32> in !plan.buffer<scratch>
  }
}
