// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @read_c1_missing() {
  // expected-error @below {{names no variable: @w}}
  weir.read @w : tensor<4xf32>
  return
}

// -----

// expected-note @below {{the variable}}
weir.variable parameter @w : tensor<4xf32>
func.func @read_c1_type() {
  // expected-error @below {{has type 'tensor<3xf32>', but the variable is 'tensor<4xf32>'}}
  weir.read @w : tensor<3xf32>
  return
}

// -----

// expected-note @below {{the variable}}
weir.variable parameter @w : tensor<4xf32>
func.func @write_c1(%x: tensor<3xf32>) {
  // expected-error @below {{has type 'tensor<3xf32>', but the variable is 'tensor<4xf32>'}}
  weir.write @w, %x : tensor<3xf32>
  return
}

// -----

weir.variable parameter @w : tensor<4xf32>
func.func @write_c2(%x: tensor<4xf32>) {
  // expected-note @below {{the first}}
  weir.write @w, %x : tensor<4xf32>
  // expected-error @below {{is a second write of @w}}
  weir.write @w, %x : tensor<4xf32>
  return
}

// -----

func.func @gradient_c1(%loss: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error @below {{needs one result of equal type for each source}}
  weir.gradient %loss wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @microbatches_c1(%x: tensor<5xf32>) {
  // expected-error @below {{cannot cut 5 into 2 equal parts}}
  weir.microbatches 2 sliced(%x) carried() : (tensor<5xf32>) -> () {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    weir.yield
  }
  return
}

// -----

func.func @microbatches_c2_argument(%x: tensor<4xf32>) {
  // expected-error @below {{has type 'tensor<4xf32>' for number 1 of its block arguments, which should be 'tensor<2xf32>'}}
  weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> () {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
    weir.yield
  }
  return
}

// -----

func.func @microbatches_c2_yield(%x: tensor<4xf32>) {
  // expected-error @below {{needs 1 yielded values, but has 0}}
  %0 = weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> tensor<2xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    weir.yield
  }
  return
}

// -----

func.func @kernel_c1(%x: tensor<4xf32>) {
  // expected-error @below {{has type 'tensor<2xf32>' for number 0 of its block arguments, which should be 'tensor<4xf32>'}}
  %0 = weir.kernel map(%x) : (tensor<4xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    weir.yield %a : tensor<2xf32>
  }
  return
}

// -----

func.func @kernel_c2(%x: tensor<f32>) {
  // expected-error @below {{holds an op that is not weir's}}
  %0 = weir.kernel map(%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    // expected-note @below {{arith.constant}}
    %c = arith.constant 1 : i32
    weir.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @kernel_c3_rows(%x: tensor<4xf32>) {
  // expected-error @below {{of shape row wants #weir.rows<rows x columns>, and has none}}
  %0 = weir.kernel row(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    weir.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c3_product(%x: tensor<4xf32>) {
  // expected-error @below {{of shape product wants #weir.epilogue<..>, and has another}}
  %0 = weir.kernel product over #weir.rows<1 x 4>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    weir.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c3_map(%x: tensor<4xf32>) {
  // expected-error @below {{of shape map wants no domain, and has another}}
  %0 = weir.kernel map over #weir.rows<1 x 4>(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    weir.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c4(%x: tensor<6xf32>) {
  // expected-error @below {{of 2 rows and 4 columns cannot have a result of type 'tensor<6xf32>'}}
  %0 = weir.kernel row over #weir.rows<2 x 4>(%x) : (tensor<6xf32>) -> tensor<6xf32> {
  ^bb0(%a: tensor<6xf32>):
    weir.yield %a : tensor<6xf32>
  }
  return
}

// -----

func.func @kernel_c4_size(%x: tensor<6xf32>) {
  // expected-error @below {{has a domain of 0 rows and 4 columns: expected at least one of each, and at most 72057594037927936 places}}
  %0 = weir.kernel row over #weir.rows<0 x 4>(%x) : (tensor<6xf32>) -> tensor<6xf32> {
  ^bb0(%a: tensor<6xf32>):
    weir.yield %a : tensor<6xf32>
  }
  return
}

// -----

func.func @kernel_c5(%x: tensor<2x2xf32>) {
  // expected-error @below {{has 1 inputs, and its bias is number 1}}
  %0 = weir.kernel product over #weir.epilogue<bias = 1>(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %p = weir.matmul %a, %a : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
    weir.yield %p : tensor<2x2xf32>
  }
  return
}

// -----

func.func @kernel_c6(%x: tensor<2xf32>) {
  // expected-error @below {{has 2 inputs, 3 ops and 2 results for 2 copies}}
  %0:2 = weir.kernel map(%x, %x) {copies = 2 : i64} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %c = weir.exp %a : tensor<2xf32>
    %d = weir.exp %b : tensor<2xf32>
    %e = weir.exp %d : tensor<2xf32>
    weir.yield %c, %e : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @microbatches_c3(%x: tensor<4xf32>) {
  weir.microbatches 2 sliced(%x) carried() : (tensor<4xf32>) -> () {
  ^bb0(%i: tensor<i32>, %a: tensor<2xf32>):
    // expected-error @below {{cannot stand inside other microbatches}}
    weir.microbatches 2 sliced(%a) carried() : (tensor<2xf32>) -> () {
    ^bb0(%j: tensor<i32>, %b: tensor<1xf32>):
      weir.yield
    }
    weir.yield
  }
  return
}

// -----

func.func @yield_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expects parent op to be one of 'weir.microbatches, weir.kernel'}}
  weir.yield %x : tensor<4xf32>
}

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor}}
weir.variable parameter @w : tensor<300000000x300000000xf32>

// -----

func.func @phase_is_one_of_three(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{phase: expected forward, backward or update, but found sideways}}
  %y = weir.add %x, %x {weir.phase = #weir.phase<sideways>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{phase: expected forward, backward or update}}
module attributes {test.phase = #weir.phase<>} {}
