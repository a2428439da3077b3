// RUN: weir-opt %s --split-input-file --verify-diagnostics

func.func @input_c1() {
  // expected-error @+1 {{needs its value as dense<...>}}
  %x = check.input sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

weir.variable parameter @w : tensor<2xf32>
func.func @set_c1() {
  // expected-error @+1 {{needs its value as dense<...>}}
  check.set @w, sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

func.func @set_c2_no_variable() {
  // expected-error @+1 {{names no variable: @w}}
  check.set @w, dense<1.0> : tensor<2xf32>
  return
}

// -----

weir.variable parameter @w : tensor<3xf32>
func.func @set_c2_another_type() {
  // expected-error @+1 {{has a value of type 'tensor<2xf32>', but the variable is 'tensor<3xf32>'}}
  check.set @w, dense<1.0> : tensor<2xf32>
  return
}

// -----

func.func @expect_c1() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{needs its value as dense<...>}}
  check.expect %x, sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

func.func @expect_c2() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{needs a positive tolerance}}
  check.expect %x, dense<1.0> : tensor<2xf32> within 0.0
  return
}

// -----

func.func @expect_c2_whole_numbers() {
  %x = check.input dense<1> : tensor<2xi32>
  // expected-error @+1 {{has a tolerance, but whole numbers and truth values are exact}}
  check.expect %x, dense<1> : tensor<2xi32> within 0.5
  return
}

// -----

func.func @expect_c3() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{is either exact or within a tolerance}}
  check.expect %x, dense<1.0> : tensor<2xf32> within 0.5 exactly
  return
}

// -----

func.func @expect_c3_each() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{says 'each' of no tolerance}}
  check.expect %x, dense<1.0> : tensor<2xf32> each
  return
}

// -----

func.func @expect_close_c1() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{needs a positive tolerance}}
  check.expect_close %x, %x within -1.0 : tensor<2xf32>
  return
}

// -----

func.func @expect_close_c2() {
  %x = check.input dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{says 'each' of no tolerance}}
  check.expect_close %x, %x each : tensor<2xf32>
  return
}

// -----

weir.variable state @w : tensor<2xf32>
func.func @expect_variable_c1() {
  // expected-error @+1 {{needs its value as dense<...>}}
  check.expect_variable @w, sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

weir.variable state @w : tensor<2xi32>
func.func @expect_variable_c2() {
  // expected-error @+1 {{has a tolerance, but whole numbers and truth values are exact}}
  check.expect_variable @w, dense<1> : tensor<2xi32> within 0.5
  return
}

// -----

weir.variable state @w : tensor<2xf32>
func.func @expect_variable_c3() {
  // expected-error @+1 {{is either exact or within a tolerance}}
  check.expect_variable @w, dense<1.0> : tensor<2xf32> within 0.5 exactly
  return
}

// -----

func.func @expect_variable_c4_no_variable() {
  // expected-error @+1 {{names no variable: @w}}
  check.expect_variable @w, dense<1.0> : tensor<2xf32>
  return
}

// -----

weir.variable state @w : tensor<3xf32>
func.func @expect_variable_c4_another_type() {
  // expected-error @+1 {{has a value of type 'tensor<2xf32>', but the variable is 'tensor<3xf32>'}}
  check.expect_variable @w, dense<1.0> : tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{check.unsupported belongs to a function: a dictionary from back ends to reasons}}
func.func @no_reason() attributes {check.unsupported = {cpu = ""}} {
  return
}

// -----

// expected-error @+1 {{"check.skip" is no attribute of the check dialect}}
func.func @another_attribute() attributes {check.skip = "cpu"} {
  return
}

// -----

func.func @in_a_region(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = weir.microbatches 1 sliced(%x) carried() : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%round: tensor<i32>, %part: tensor<2xf32>):
    // expected-error @+1 {{expects parent op 'func.func'}}
    %y = check.input dense<1.0> : tensor<2xf32>
    weir.yield %y : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
