// RUN: weir-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{is of type 'tensor<?xf32>': expected a static shape}}
plan.variable parameter @variable_c1 : tensor<?xf32>

// -----

// expected-error @below {{lies at 4: expected a multiple of 64}}
plan.variable parameter @variable_c2 at 4 : tensor<4xf32>

// -----

// expected-error @below {{holds other than one weir.kernel}}
plan.kernel map @kernel_c1 attributes {parts = [#plan.part<"" : 1>], takes = [], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %x = weir.constant 0.0 : f32 -> tensor<4xf32>
}

// -----

// expected-error @below {{has no part to launch}}
plan.kernel map @kernel_c2 attributes {parts = [], takes = [], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has a part without tasks}}
plan.kernel map @kernel_c2_tasks attributes {parts = [#plan.part<"" : 0>], takes = [#plan.operand<write 16>], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has an operand 0 that its meaning has not: expected write 16}}
plan.kernel map @kernel_c3 attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<read 16>], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has negative scratch or cost}}
plan.kernel map @kernel_c4 attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<write 16>], thread_scratch = -1 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{recomputes 5 of 4 FLOPs}}
plan.kernel map @kernel_c5 attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<write 16>], thread_scratch = 0 : i64, flops = 4 : i64, bytes = 0 : i64, recomputed = 5 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{has a block with arguments}}
plan.entry @entry_c1 {
^bb0(%x: !plan.buffer<scratch>):
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
}

// -----

plan.entry @entry_c2 {
  // expected-error @below {{stands in a plan.entry, where only actions, ports and places may}}
  %x = weir.constant 0.0 : f32 -> tensor<4xf32>
}

// -----

plan.entry @port_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{is of type 'tensor<2xf64>': expected elements of type f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2}}
  plan.port tensor "y" %a : tensor<2xf64> in !plan.buffer<scratch>
}

// -----

plan.entry @port_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{a sum is one number of four bytes}}
  plan.port sum "y" %a : tensor<2xf32> in !plan.buffer<scratch>
}

// -----

plan.entry @port_c3 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has a weight that is not finite}}
  plan.port sum "y" %a {weight = 0x7FF0000000000000 : f64} : tensor<f32> in !plan.buffer<scratch>
}

// -----

plan.entry @port_c4 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has a limit, which only an input of integers has}}
  plan.port input "y" %a {limit = 4 : i64} : tensor<2xf32> in !plan.buffer<scratch>
}

// -----

plan.entry @port_c5 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %round = plan.alloc 4 "round" : !plan.buffer<scratch>
  plan.loop 2 round %round : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    %moving = plan.part %a at 0 moving with %i {strides = array<i64: 4>, moduli = array<i64: 0>} : !plan.buffer<scratch>
    // expected-error @below {{is in a part that moves with a loop}}
    plan.port tensor "y" %moving : tensor<2xf32> in !plan.buffer<scratch>
  }
}

// -----

plan.entry @port_c6 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{is of term -1: expected a number from 0 to 4294967295}}
  plan.port sum "y" %a {term = -1 : i64} : tensor<f32> in !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c1 {
  // expected-error @below {{has no bytes}}
  %a = plan.alloc 0 "a" : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c2 {
  // expected-error @below {{lies at 8: expected a multiple of 64}}
  %a = plan.alloc 64 "a" at 8 from 0 to 1 : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c3 {
  // expected-error @below {{has an offset or a lifetime, but not both}}
  %a = plan.alloc 64 "a" at 64 : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c3_order {
  // expected-error @below {{dies before it is born}}
  %a = plan.alloc 64 "a" at 64 from 2 to 1 : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c3_first {
  // expected-error @below {{is alive from action -1: expected a number from 0 to 4294967295}}
  %a = plan.alloc 64 "a" at 64 from -1 to 1 : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c3_last {
  // expected-error @below {{is alive to action 4294967296: expected a number from 0 to 4294967295}}
  %a = plan.alloc 64 "a" at 64 from 0 to 4294967296 : !plan.buffer<scratch>
}

// -----

plan.entry @alloc_c4 {
  // expected-error @below {{lies in constant memory: expected scratch, pinned or host}}
  %a = plan.alloc 64 "a" : !plan.buffer<constant>
}

// -----

plan.entry @use_c1 {
  // expected-error @below {{names no plan.variable: @absent}}
  %a = plan.use @absent : !plan.buffer<persistent>
}

// -----

plan.variable parameter @w : tensor<4xf32>
plan.entry @use_c2 {
  // expected-error @below {{lies in scratch memory: expected persistent}}
  %a = plan.use @w : !plan.buffer<scratch>
}

// -----

plan.entry @part_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %round = plan.alloc 4 "round" : !plan.buffer<scratch>
  plan.loop 2 round %round : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    // expected-error @below {{moves with 1 loops by 2 strides and 1 moduli}}
    %moving = plan.part %a at 0 moving with %i {strides = array<i64: 4, 4>, moduli = array<i64: 0>} : !plan.buffer<scratch>
  }
}

// -----

plan.entry @part_c1_modulus {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %round = plan.alloc 4 "round" : !plan.buffer<scratch>
  plan.loop 2 round %round : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    // expected-error @below {{has a modulus of -2: expected a number from 0 to 4294967295}}
    %moving = plan.part %a at 0 moving with %i {strides = array<i64: 4>, moduli = array<i64: -2>} : !plan.buffer<scratch>
  }
}

// -----

func.func @part_c2(%i: !plan.index, %a: !plan.buffer<scratch>) {
  // expected-error @below {{moves with what is no loop's round}}
  %moving = plan.part %a at 0 moving with %i {strides = array<i64: 4>, moduli = array<i64: 0>} : !plan.buffer<scratch>
  return
}

// -----

func.func @touches_no_place(%a: !plan.buffer<scratch>) {
  // expected-error @below {{touches a buffer that is no plan.alloc, plan.use or plan.part}}
  plan.copy %a to %a 4 : !plan.buffer<scratch> to !plan.buffer<scratch>
  return
}

// -----

plan.entry @negative_queue {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{is on queue -1: expected a number from 0 to 4294967295}}
  plan.copy %a to %a 4 {queue = -1 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @large_queue {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{is on queue 4294967296: expected a number from 0 to 4294967295}}
  plan.copy %a to %a 4 {queue = 4294967296 : i64} : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @launch_c1 {
  // expected-error @below {{launches a kernel that the plan does not have: @absent}}
  plan.launch @absent 0()
}

// -----

plan.kernel map @k attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<write 16>], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}
plan.entry @launch_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{launches part 1 of a kernel of 1}}
  plan.launch @k 1(%a : !plan.buffer<scratch>)
}

// -----

plan.kernel map @k attributes {parts = [#plan.part<"" : 1>], takes = [#plan.operand<write 16>], thread_scratch = 0 : i64, flops = 0 : i64, bytes = 0 : i64} {
  %y = weir.kernel map() : () -> tensor<4xf32> {
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
    weir.yield %x : tensor<4xf32>
  }
}
plan.entry @launch_c3 {
  // expected-error @below {{has 0 operands, its kernel takes 1}}
  plan.launch @k 0()
}

// -----

plan.entry @call_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has 1 operands: a product 2x2x2 takes 3}}
  plan.call <product m = 2, n = 2, k = 2, a_row = 2, a_column = 1, b_row = 2, b_column = 1, c_row = 2, tile_m = 2, tile_n = 2>(%a : !plan.buffer<scratch>)
}

// -----

// expected-error @below {{product: the tile of m is out of range}}
module attributes {spec_c1 = #plan.spec<product m = 2, n = 2, k = 2>} {}

// -----

// expected-error @below {{no library call is called 'sort'}}
module attributes {kind = #plan.spec<sort>} {}

// -----

// expected-error @below {{a product has no 'rows'}}
module attributes {field = #plan.spec<product rows = 2>} {}

// -----

// expected-error @below {{a product is given 'm' twice}}
module attributes {twice = #plan.spec<product m = 2, m = 4>} {}

// -----

// expected-error @below {{unknown computes 'sideways'}}
module attributes {choice = #plan.spec<convolution computes = sideways>} {}

// -----

plan.entry @copy_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{copies no bytes}}
  plan.copy %a to %a 0 : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @collective_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %b = plan.alloc 64 "b" : !plan.buffer<scratch>
  // expected-error @below {{has 32 bytes, as no member}}
  plan.collective all_gather over "dp" %a to %b bytes [40, 24] own 32 of f32 : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @collective_c1_shift {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %b = plan.alloc 64 "b" : !plan.buffer<scratch>
  // expected-error @below {{shifts what members have more of than others}}
  plan.collective shift over "dp" %a to %b bytes [32, 24] own 32 of f32 : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @collective_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %b = plan.alloc 64 "b" : !plan.buffer<scratch>
  // expected-error @below {{cannot move elements of 'index'}}
  plan.collective all_gather over "dp" %a to %b bytes [32, 32] own 32 of index : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @collective_c2_part {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  %b = plan.alloc 64 "b" : !plan.buffer<scratch>
  // expected-error @below {{has a member with a part of an element of 'f32'}}
  plan.collective all_gather over "dp" %a to %b bytes [32, 30] own 32 of f32 : !plan.buffer<scratch> to !plan.buffer<scratch>
}

// -----

plan.entry @send_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{moves 30 bytes, no whole elements of 'f32'}}
  plan.send %a 30 of f32 over "pp" peer 1 number 1 round 0 : !plan.buffer<scratch>
}

// -----

plan.entry @receive_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{cannot move elements of 'index'}}
  plan.receive %a 32 of index over "pp" peer 1 number 1 round 0 : !plan.buffer<scratch>
}

// -----

plan.entry @send_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has no number}}
  plan.send %a 32 of f32 over "pp" peer 1 number 0 round 0 : !plan.buffer<scratch>
}

// -----

plan.entry @receive_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{is in round -1: expected a number from 0 to 4294967295}}
  plan.receive %a 32 of f32 over "pp" peer 1 number 1 round -1 : !plan.buffer<scratch>
}

// -----

plan.entry @loop_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has no round}}
  plan.loop 0 round %a : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    plan.copy %a to %a 4 : !plan.buffer<scratch> to !plan.buffer<scratch>
  }
}

// -----

plan.entry @loop_c1_large {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has 65537 rounds: expected at most 65536}}
  plan.loop 65537 round %a : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    plan.copy %a to %a 4 : !plan.buffer<scratch> to !plan.buffer<scratch>
  }
}

// -----

plan.entry @loop_c2 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  // expected-error @below {{has a body that takes other than one !plan.index}}
  plan.loop 2 round %a : !plan.buffer<scratch> {
    plan.copy %a to %a 4 : !plan.buffer<scratch> to !plan.buffer<scratch>
  }
}

// -----

plan.entry @loop_c3 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  plan.loop 2 round %a : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    // expected-error @below {{stands in a plan.loop, where only actions}}
    %x = weir.constant 0.0 : f32 -> tensor<4xf32>
  }
}

// -----

plan.entry @event_c1 {
  %a = plan.alloc 64 "a" : !plan.buffer<scratch>
  plan.loop 2 round %a : !plan.buffer<scratch> {
  ^bb0(%i: !plan.index):
    // expected-error @below {{expects parent op 'plan.entry'}}
    %e = plan.event
    plan.record %e
  }
}

// -----

func.func @record_c1(%e: !plan.event) {
  // expected-error @below {{names an event that no plan.event makes}}
  plan.record %e
  return
}

// -----

func.func @wait_c1(%e: !plan.event) {
  // expected-error @below {{names an event that no plan.event makes}}
  plan.wait %e
  return
}

// -----

module @blob_c1 {
  // expected-error @below {{holds no code: expected a dense_resource of one or more ui8}}
  plan.blob dense<1> : tensor<4xui8>
}

// -----

module @blob_c1_size {
  // expected-error @below {{holds no code: expected a dense_resource of one or more ui8}}
  plan.blob dense_resource<blob_c1> : tensor<5xui8>
}

{-#
  dialect_resources: {
    builtin: {
      blob_c1: "0x1000000001020304"
    }
  }
#-}

// -----

module @blob_c2 {
  plan.blob dense_resource<blob_c2> : tensor<4xui8>
  // expected-error @below {{is the second of its module}}
  plan.blob dense_resource<blob_c2> : tensor<4xui8>
}

{-#
  dialect_resources: {
    builtin: {
      blob_c2: "0x1000000001020304"
    }
  }
#-}

// -----

module @blob_c3 {
  plan.entry @e {
    // expected-error @below {{expects parent op 'builtin.module'}}
    plan.blob dense_resource<blob_c3> : tensor<4xui8>
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob_c3: "0x1000000001020304"
    }
  }
#-}
