// RUN: weir-opt --weir-lower-to-plan --split-input-file --verify-diagnostics %s

// What a stage computes of each microbatch stands in its order once.
func.func @twice(%x: tensor<8xf32> {weir.input = "x"}, %s: tensor<4xf32> {weir.input = "s"}) {
  // expected-error@+1 {{computes section 0 of microbatch 1 twice: sums would have it twice}}
  %g = weir.microbatches 2 sliced(%x) carried(%s) {weir.order = array<i64: 0, 0, 0, 1, 0, 1>, weir.section = 0 : i64} : (tensor<8xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>, %sum: tensor<4xf32>):
    weir.yield %sum : tensor<4xf32>
  }
  return
}

// -----

func.func @never(%x: tensor<8xf32> {weir.input = "x"}, %s: tensor<4xf32> {weir.input = "s"}) {
  // expected-error@+1 {{is never computed for microbatch 1}}
  %g = weir.microbatches 2 sliced(%x) carried(%s) {weir.order = array<i64: 0, 0>, weir.section = 0 : i64} : (tensor<8xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>, %sum: tensor<4xf32>):
    weir.yield %sum : tensor<4xf32>
  }
  return
}

// -----

func.func @another(%x: tensor<8xf32> {weir.input = "x"}, %s: tensor<4xf32> {weir.input = "s"}) {
  // expected-error@+1 {{has no microbatch 2}}
  %g = weir.microbatches 2 sliced(%x) carried(%s) {weir.order = array<i64: 0, 0, 0, 2>, weir.section = 0 : i64} : (tensor<8xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>, %sum: tensor<4xf32>):
    weir.yield %sum : tensor<4xf32>
  }
  return
}

// -----

// Gradients of a microbatch ahead of its own forward computation.
func.func @early(%x: tensor<8xf32> {weir.input = "x"}, %s: tensor<4xf32> {weir.input = "s"}) {
  weir.microbatches 2 sliced(%x) carried() {weir.order = array<i64: 0, 0, 1, 1, 1, 0, 0, 1>, weir.section = 0 : i64} : (tensor<8xf32>) -> () {
  ^bb0(%round: tensor<i32>, %part: tensor<4xf32>):
    weir.save %part number 1 : tensor<4xf32>
    weir.yield
  }
  %g = weir.microbatches 2 sliced() carried(%s) {weir.order = array<i64: 0, 0, 1, 1, 1, 0, 0, 1>, weir.section = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%round: tensor<i32>, %sum: tensor<4xf32>):
    // expected-error@+1 {{is read in section 1 of microbatch 1 before it is computed}}
    %saved = weir.saved number 1 : tensor<4xf32>
    weir.yield %saved : tensor<4xf32>
  }
  return
}
