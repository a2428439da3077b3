// The arrays are written here, so that none is in the repository. The file name in a message is lit's.
// RUN: %{python} %S/Inputs/write-arrays.py %t

// RUN: weir-opt %s --run --entry double --input=@%t/f64.npy --input=@%t/i64.npy | FileCheck %s --check-prefix=ARRAYS
// ARRAYS: output0: 2x3xf32
// ARRAYS-NEXT: {{^}}  [0] 3 -4 6.5{{$}}
// ARRAYS-NEXT: {{^}}  [1] 0.200000003 10 12{{$}}
// ARRAYS-NEXT: output1: 3xi32
// ARRAYS-NEXT: {{^}}  6 -8 10{{$}}

// RUN: not weir-opt %s --run 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: --run: say which function with --entry; there are: double, cube, read, branch
// RUN: not weir-opt %s --run --entry duoble 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --entry duoble: no function of that name; there are: double, cube, read, branch
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=0 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: @double has 2 inputs, but 1 were given; expected --input=2x3xf32=... --input=3xi32=...
// RUN: not weir-opt %s --run --entry double --input=3x2xf32=0 --input=3xi32=0 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: --input 1 (input0): expected 2x3xf32=..., found '3x2xf32=0'
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=0 --input=3xf32=0 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: --input 2 (input1): expected 3xi32=..., found '3xf32=0'
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=1,2,3,4 --input=3xi32=0 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: error: --input 1 (input0): expected 6 elements, or one for all of them; found 4
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=0 --input=3xi32=1,2.5,3 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: --input 2 (input1): '2.5' is no whole number from -2147483648 to 2147483647
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=zero --input=3xi32=1 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: --input 1 (input0): 'zero' is no number
// RUN: not weir-opt %s --run --entry double --input=@%t/i64.npy --input=3xi32=1 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: --input 1 (input0): expected 2x3xf32, but {{.*}}i64.npy has 3xi64
// RUN: not weir-opt %s --run --entry double --input=@%t/none.npy --input=3xi32=1 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: --input 1 (input0): {{.*}}none.npy
// RUN: not weir-opt %s --run --entry double --input=2x3xf32=0 --input=@%t/large.npy 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: --input 2 (input1): element 1 of {{.*}}large.npy does not fit i32
// RUN: not weir-opt %s --run --entry read --variable=v=f32=1 2>&1 | FileCheck %s --check-prefix=VARIABLE
// VARIABLE: error: --variable v: no variable of that name; there are: w
// RUN: not weir-opt %s --run --entry read --variable=w=2xf32=1 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: --variable w: expected f32=..., found '2xf32=1'
// RUN: not weir-opt %s --run --entry read 2>&1 | FileCheck %s --check-prefix=UNSET
// UNSET: error: 'weir.read' op reads a variable that has no value yet
// RUN: not weir-opt %s --run --entry cube --input=f32=2 2>&1 | FileCheck %s --check-prefix=SEMANTICS
// SEMANTICS: error: 'arith.mulf' op has no reference semantics
// RUN: not weir-opt %s --run --entry branch --input=f32=2 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: @branch has 2 blocks, expected one: the interpreter runs the weir and plan dialects, without branches
// RUN: not weir-opt %s --entry double 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --entry, --input and --variable belong to --run

weir.variable parameter @w : tensor<f32>

func.func @double(%x: tensor<2x3xf32>, %i: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>) {
  %a = weir.add %x, %x : tensor<2x3xf32>
  %b = weir.add %i, %i : tensor<3xi32>
  return %a, %b : tensor<2x3xf32>, tensor<3xi32>
}

func.func @cube(%x: tensor<f32>) -> tensor<f32> {
  %p = arith.mulf %x, %x : tensor<f32>
  %q = weir.mul %p, %x : tensor<f32>
  return %q : tensor<f32>
}

func.func @read() -> tensor<f32> {
  %w = weir.read @w : tensor<f32>
  return %w : tensor<f32>
}

func.func @branch(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^bb1(%x : tensor<f32>)
^bb1(%y: tensor<f32>):
  return %y : tensor<f32>
}
