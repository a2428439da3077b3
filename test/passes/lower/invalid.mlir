// RUN: weir-opt --weir-lower-to-plan --split-input-file --verify-diagnostics %s

// expected-error@+1 {{is no entry: expected a body of one block}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error@+1 {{is no entry: expected a body of one block}}
func.func @branches() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error@+1 {{cannot be planned: its argument 0 has no weir.input}}
func.func @unnamed_input(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{cannot be planned: its result 0 has no weir.output, or no weir.part of an output}}
func.func @unnamed_output(%x: tensor<4xf32> {weir.input = "x"}) -> (tensor<4xf32> {weir.output = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{weir.part = "input": expected scalar, sum, count or tensor}}
func.func @output_that_is_an_input(%x: tensor<4xf32> {weir.input = "x"}) -> (tensor<4xf32> {weir.output = "y", weir.part = "input"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{takes or returns 'tensor<0x3xf32>': expected from 1 to 2^56 elements}}
func.func @empty(%x: tensor<0x3xf32> {weir.input = "x"}) {
  return
}

// -----

func.func @sums_are_not_carried(%x: tensor<8x2xf32> {weir.input = "x"}) -> (tensor<4x2xf32> {weir.output = "y", weir.part = "tensor"}) {
  // expected-error@+1 {{cannot be planned before its sums are carried (weir-carry-sums)}}
  %0 = weir.microbatches 2 sliced(%x) carried() : (tensor<8x2xf32>) -> tensor<4x2xf32> {
  ^bb0(%i: tensor<i32>, %rows: tensor<4x2xf32>):
    weir.yield %rows : tensor<4x2xf32>
  }
  return %0 : tensor<4x2xf32>
}
