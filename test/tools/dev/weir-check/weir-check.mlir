// What differs is named: file, line, function, back end, element, expected and found.

// RUN: not weir-check %s --backend interpreter > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=SAID < %t.out
// RUN: FileCheck %s --check-prefix=WRONG -DFILE=%s < %t.err
// SAID: weir-check.mlir: 2 of 7 functions as expected on interpreter
// WRONG-NOT: @right
// WRONG: [[FILE]]:[[#@LINE+34]]: @elements on interpreter: element [1, 0] should be 4, but is 3 (and 2 more of 6 differ)
// WRONG: [[FILE]]:[[#@LINE+41]]: @tolerance on interpreter: element [0] should be 1.5, but is 1
// WRONG: [[FILE]]:[[#@LINE+41]]: @tolerance on interpreter: element [1] should be 0.00100010005, but is 0.00100000005
// WRONG: [[FILE]]:[[#@LINE+47]]: @special_values on interpreter: element [0] should be 1, but is nan
// WRONG: [[FILE]]:[[#@LINE+47]]: @special_values on interpreter: element [1] should be -inf, but is inf
// WRONG: [[FILE]]:[[#@LINE+53]]: @whole_numbers on interpreter: element [1] should be -2147483648, but is 2147483647
// WRONG: [[FILE]]:[[#@LINE+53]]: @whole_numbers on interpreter: element [0] should be false, but is true
// WRONG: [[FILE]]:[[#@LINE+60]]: @variables on interpreter: should be 3, but is 2

// RUN: not weir-check %s --backend cpu:x86-64-v3 2>&1 | FileCheck %s --check-prefix=CPU
// CPU-DAG: @elements on cpu:x86-64-v3: element [1, 0] should be 4, but is 3
// CPU-DAG: @elements on cpu:x86-64-v3:single: element [1, 0] should be 4, but is 3
// CPU-DAG: @not_on_this_one is not run on cpu:x86-64-v3: it is only a test of the word
// CPU-DAG: weir-check.mlir: 1 of 6 functions as expected on cpu:x86-64-v3
// CPU-NOT: interpreter

// RUN: not weir-check %S/Inputs/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: empty.mlir:1:1: error: a test has to expect something: add a check.expect
// EMPTY: error: {{.*}}empty.mlir is no test that can be run; see docs/internals/testing.md
// RUN: not weir-check %S/Inputs/arguments.mlir 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: arguments.mlir:1:1: error: a test takes nothing and returns nothing: its inputs are check.input, its results go to check.expect
// RUN: not weir-check %S/Inputs/unknown-backend.mlir 2>&1 | FileCheck %s --check-prefix=ABACUS
// ABACUS: unknown-backend.mlir:1: check.unsupported names no back end: abacus
// RUN: not weir-check %s --backend abacus 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --backend abacus: expected one of interpreter, cpu:x86-64-v3, cpu:x86-64-v3:single, cpu:x86-64-v4, cpu:x86-64-v4:single

func.func @right() {
  %x = check.input dense<[1.0, -0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  check.expect %x, dense<[1.000001, 0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  return
}

func.func @elements() {
  %x = check.input dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  check.expect %x, dense<[[1.0, 2.0], [4.0, 4.0], [6.0, 7.0]]> : tensor<3x2xf32>
  return
}

// A small element may be far off beside a large one, but not with each.
func.func @tolerance() {
  %x = check.input dense<[1.0, 0.001, 1000.0]> : tensor<3xf32>
  check.expect %x, dense<[1.009, 0.002, 1000.0]> : tensor<3xf32>
  check.expect %x, dense<[1.5, 0.002, 1000.0]> : tensor<3xf32> within 1.0e-4
  check.expect %x, dense<[1.0, 0.0010001, 1000.0]> : tensor<3xf32> within 1.0e-5 each
  check.expect %x, dense<[1.0, 0.0010001, 1000.0]> : tensor<3xf32> within 1.0e-3 each
  return
}

func.func @special_values() {
  %x = check.input dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>
  check.expect %x, dense<[1.0, 0x7F800000]> : tensor<2xf32>
  check.expect %x, dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>
  return
}

func.func @whole_numbers() {
  %x = check.input dense<[1, 2147483647]> : tensor<2xi32>
  %b = check.input dense<[true, false]> : tensor<2xi1>
  check.expect %x, dense<[1, -2147483648]> : tensor<2xi32>
  check.expect %b, dense<[false, false]> : tensor<2xi1>
  return
}

weir.variable state @n : tensor<i32>

func.func @variables() {
  check.set @n, dense<2> : tensor<i32>
  check.expect_variable @n, dense<3> : tensor<i32>
  return
}

func.func @not_on_this_one() attributes {check.unsupported = {"cpu:x86-64-v3" = "it is only a test of the word"}} {
  %x = check.input dense<1.0> : tensor<2xf32>
  check.expect %x, dense<1.0> : tensor<2xf32>
  return
}
