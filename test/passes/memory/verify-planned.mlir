// RUN: weir-opt %s --weir-verify-planned --split-input-file --verify-diagnostics

!scratch = !plan.buffer<scratch>
!w = !plan.buffer<persistent>

// Data go round two halves of a buffer: queue 1 fills one while queue 0 works on the other. Queue 0 must not begin a round before
// its half is filled, nor queue 1 before the half it fills has been worked on, which is two rounds ago.
module attributes {plan.persistent = 512 : i64, plan.arena = 704 : i64} {
  plan.variable state @from at 0 : tensor<64xf32>
  plan.variable state @to at 256 : tensor<64xf32>
  plan.entry @double_buffer {
    %from = plan.use @from : !w
    %to = plan.use @to : !w
    %halves = plan.alloc 128 "halves" at 512 from 0 to 8 : !scratch
    %round = plan.alloc 4 "round" at 640 from 0 to 8 : !scratch
    %filled = plan.event
    %used = plan.event
    plan.record %used
    plan.wait %used {queue = 1 : i64}
    plan.loop 4 round %round : !scratch {
    ^bb0(%i: !plan.index):
      %source = plan.part %from at 0 moving with %i {strides = array<i64: 64>, moduli = array<i64: 0>} : !w
      %half = plan.part %halves at 0 moving with %i {strides = array<i64: 64>, moduli = array<i64: 2>} : !scratch
      %target = plan.part %to at 192 moving with %i {strides = array<i64: -64>, moduli = array<i64: 0>} : !w
      plan.copy %source to %half 64 {queue = 1 : i64} : !w to !scratch
      plan.record %filled {queue = 1 : i64}
      plan.wait %filled
      plan.copy %half to %target 64 : !scratch to !w
      plan.wait %used {queue = 1 : i64}
      plan.record %used
    }
  }
}

// -----

!scratch = !plan.buffer<scratch>
!w = !plan.buffer<persistent>

// The same, but queue 0 does not wait.
module attributes {plan.persistent = 512 : i64, plan.arena = 704 : i64} {
  plan.variable state @from at 0 : tensor<64xf32>
  plan.variable state @to at 256 : tensor<64xf32>
  plan.entry @missing_event {
    %from = plan.use @from : !w
    %to = plan.use @to : !w
    %half = plan.alloc 64 "half" at 512 from 0 to 4 : !scratch
    %begin = plan.event
    %filled = plan.event
    plan.record %begin
    plan.wait %begin {queue = 1 : i64}
    plan.copy %from to %half 64 {queue = 1 : i64} : !w to !scratch
    plan.record %filled {queue = 1 : i64}
    // expected-error @below {{access 'from' to buffer 2 'half': it reads bytes [0, 64), which action 2 'copy' on queue 1, access 'to' to buffer 2 'half' writes, and nothing puts the two in order}}
    plan.copy %half to %to 64 : !scratch to !w
  }
}

// -----

!scratch = !plan.buffer<scratch>
!w = !plan.buffer<persistent>

// Recorded on the queue that reads.
module attributes {plan.persistent = 512 : i64, plan.arena = 704 : i64} {
  plan.variable state @from at 0 : tensor<64xf32>
  plan.variable state @to at 256 : tensor<64xf32>
  plan.entry @event_on_the_wrong_queue {
    %from = plan.use @from : !w
    %to = plan.use @to : !w
    %half = plan.alloc 64 "half" at 512 from 0 to 5 : !scratch
    %begin = plan.event
    %filled = plan.event
    plan.record %begin
    plan.wait %begin {queue = 1 : i64}
    plan.copy %from to %half 64 {queue = 1 : i64} : !w to !scratch
    plan.record %filled
    plan.wait %filled
    // expected-error @below {{queue 0 has to wait for an event that queue 1 records behind that, and has waited for event 1, recorded on queue 0}}
    plan.copy %half to %to 64 : !scratch to !w
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 64 : i64} {
  plan.entry @outside_by_the_last_stride {
    %a = plan.alloc 64 "a" at 0 from 0 to 1 : !scratch
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.loop 4 round %a : !scratch {
    ^bb0(%i: !plan.index):
      %part = plan.part %a at 16 moving with %i {strides = array<i64: 16>, moduli = array<i64: 0>} : !scratch
      // expected-error @below {{it takes bytes [16, 80) of 64}}
      plan.copy %part to %a 16 : !scratch to !scratch
    }
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @read_before_write {
    %a = plan.alloc 64 "a" at 0 from 0 to 0 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 0 : !scratch
    // expected-error @below {{it reads bytes [0, 64), which nothing has written}}
    plan.copy %a to %b 64 : !scratch to !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  // expected-error @below {{alive in actions 0 to 1, and buffer 1 'b', alive in actions 1 to 1: they overlap}}
  plan.entry @overlap_of_live_buffers {
    %a = plan.alloc 64 "a" at 0 from 0 to 1 : !scratch
    %b = plan.alloc 64 "b" at 0 from 1 to 1 : !scratch
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.copy %a to %a 4 : !scratch to !scratch
    plan.copy %a to %b 64 : !scratch to !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @used_behind_its_life {
    %a = plan.alloc 64 "a" at 0 from 0 to 0 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 1 : !scratch
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.copy %a to %b 64 : !scratch to !scratch
    // expected-error @below {{alive in actions 0 to 0, is used at 1}}
    plan.copy %a to %b 4 : !scratch to !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

// Lifetimes are of the order in which actions are issued; on another queue the next owner of the place may be faster.
module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @write_after_read_across_queues {
    %a = plan.alloc 64 "a" at 0 from 0 to 2 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 3 : !scratch
    %next = plan.alloc 64 "next" at 0 from 3 to 4 : !scratch
    %begin = plan.event
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.record %begin
    plan.wait %begin {queue = 1 : i64}
    plan.copy %a to %b 64 {queue = 1 : i64} : !scratch to !scratch
    // expected-error @below {{it writes bytes [0, 4), which action 2 'copy' on queue 1, access 'from' to buffer 0 'a' reads, and nothing}}
    plan.loop 2 round %next : !scratch {
    ^bb0(%i: !plan.index):
      plan.copy %next to %next 4 : !scratch to !scratch
    }
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  // expected-error @below {{the host, access 'y' to buffer 1 'b': it reads bytes [0, 64), which action 2 'copy' on queue 1}}
  plan.entry @host_read_before_completion {
    %a = plan.alloc 64 "a" at 0 from 0 to 2 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 2 : !scratch
    %begin = plan.event
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.record %begin
    plan.wait %begin {queue = 1 : i64}
    plan.copy %a to %b 64 {queue = 1 : i64} : !scratch to !scratch
    plan.port tensor "y" %b : tensor<16xf32> in !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @queue_not_joined {
    %a = plan.alloc 64 "a" at 0 from 0 to 2 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 2 : !scratch
    %begin = plan.event
    plan.port input "x" %a : tensor<16xf32> in !scratch
    plan.record %begin
    plan.wait %begin {queue = 1 : i64}
    // expected-error @below {{is the last work of queue 1, and queue 0 ends the entry without having waited for it}}
    plan.copy %a to %b 64 {queue = 1 : i64} : !scratch to !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @input_not_visible {
    %a = plan.alloc 64 "a" at 0 from 0 to 0 : !scratch
    %b = plan.alloc 64 "b" at 64 from 0 to 0 : !scratch
    plan.port input "x" %a : tensor<16xf32> in !scratch
    // expected-error @below {{it reads what the host has written, and nothing puts the two in order}}
    plan.copy %a to %b 64 {queue = 1 : i64} : !scratch to !scratch
  }
}

// -----

!scratch = !plan.buffer<scratch>

module attributes {plan.persistent = 0 : i64, plan.arena = 128 : i64} {
  plan.entry @no_offset {
    // expected-error @below {{has no place yet: --weir-assign-offsets gives it one}}
    %a = plan.alloc 64 "a" : !scratch
  }
}

// -----

// expected-error @below {{is no placed plan: expected plan.persistent and plan.arena}}
module {
  plan.entry @not_placed {
  }
}

// -----

!host = !plan.buffer<host>
!scratch = !plan.buffer<scratch>

// What lies with the host is copied to the device first.
module attributes {plan.persistent = 0 : i64, plan.arena = 64 : i64, plan.host = 128 : i64} {
  plan.entry @from_host_to_host {
    %a = plan.alloc 64 "a" at 0 from 0 to 1 : !host
    %b = plan.alloc 64 "b" at 64 from 0 to 1 : !host
    %c = plan.alloc 64 "c" at 0 from 0 to 1 : !scratch
    plan.copy %c to %a 64 : !scratch to !host
    // expected-error @below {{works on the host's memory, which copies alone reach}}
    plan.copy %a to %b 64 : !host to !host
  }
}
