// What products multiply in f8, in numbers: each is multiplied with one, so that a product gives what was rounded.
// RUN: weir-opt --weir-strategy="precision=f8" --weir-mixed-precision %s -o %t.f8 && weir-opt --weir-strategy="precision=f8_block" --weir-mixed-precision %s -o %t.block

// Two of nine are the middle of two f8e4m3: 1.0625, and 5 * 2^-10, which is below the least normal number.
// RUN: weir-opt %t.f8 --run --entry own --input=1x4xf32=448,-1.0625,0.0048828125,300 --input=4x4xf32=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1 | FileCheck %s --check-prefix=OWN
// OWN: {{^}}  [0] 448 -1 0.00390625 288{{$}}

// Zeros stay zeros, and numbers that f8 has not stay near what they are.
// RUN: weir-opt %t.f8 --run --entry own --input=1x4xf32=0 --input=4x4xf32=1 | FileCheck %s --check-prefix=ZERO
// ZERO: {{^}}  [0] 0 0 0 0{{$}}
// RUN: weir-opt %t.f8 --run --entry own --input=1x4xf32=1e-30,2e-30,-1e-33,0 --input=4x4xf32=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1 | FileCheck %s --check-prefix=SMALL
// SMALL: {{^}}  [0] 9.86076132e-31 1.97215226e-30 -1.54074396e-33 0{{$}}

// What is infinite is no number; beside it nothing else becomes so.
// RUN: weir-opt %t.f8 --run --entry beside --input=2x2xf32=inf,1,300,2e38 --input=2x2xf32=1,0,0,1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: {{^}}  [0] nan nan{{$}}
// BESIDE-NEXT: {{^}}  [1] 0 1.9140{{.*}}e+38{{$}}

// In blocks a row has its own scale, and what is left over behind 128 elements another one.
// RUN: weir-opt %t.block --run --entry beside --input=2x2xf32=448,0.0048828125,0.0048828125,0.0009765625 --input=2x2xf32=1,0,0,1 | FileCheck %s --check-prefix=ROWS
// ROWS: {{^}}  [0] 448 0.00390625{{$}}
// ROWS-NEXT: {{^}}  [1] 0.0048828125 0.0009765625{{$}}

// A step has the scales of the steps before it: of x the largest was 4, so that 8 is too large, and so is 200 where nothing is known of a
// cotangent. What it sees itself is in column 18 - 16, and what is infinite stays so, and is no size.
// RUN: weir-opt %t.f8 --run --entry step --input=1x2xf32=8,1.0625 --input=2x2xf32=1,0,0,1 --input=1x2xf32=200,0.3 --variable=run/step=i32=18 \
// RUN:   --variable=f8/amax=3x16xf32=0,4,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 | FileCheck %s --check-prefix=STEP
// STEP: {{^}}  [0] 7 1{{$}}
// STEP: {{^}}  [0] 784 2.1875{{$}}
// STEP-NEXT: {{^}}  [1] 112 0.3125{{$}}
// STEP: variable f8/amax
// STEP-NEXT: {{^}}  [0] 0 4 8 0 0
// STEP-NEXT: {{^}}  [1] 0 0 1 0 0
// STEP-NEXT: {{^}}  [2] 0 0 200 0 0
// RUN: weir-opt %t.f8 --run --entry step --input=1x2xf32=inf,1 --input=2x2xf32=1 --input=1x2xf32=200,0.3 --variable=run/step=i32=18 \
// RUN:   --variable=f8/amax=3x16xf32=0,4,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 | FileCheck %s --check-prefix=INFINITE
// INFINITE: {{^}}  [0] inf inf{{$}}
// INFINITE: variable f8/amax
// INFINITE-NEXT: {{^}}  [0] 0 4 0 0 0

// Cotangents are computed times the loss scale and noted without it, so that it moves no scale: 0.3 times 1024 is 0.3125 times 1024.
// RUN: sed 's/^weir.variable/module attributes {weir.loss_scale = "1024"} {\n&/; $a}' %s > %t.mlir
// RUN: weir-opt --weir-strategy="precision=f8" --weir-mixed-precision %t.mlir -o %t.scaled
// RUN: weir-opt %t.scaled --run --entry step --input=1x2xf32=1,2 --input=2x2xf32=1 --input=1x2xf32=102400,307.2 --variable=run/step=i32=18 \
// RUN:   --variable=f8/amax=3x16xf32=0,4,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 | FileCheck %s --check-prefix=SCALED
// SCALED: {{^}}  [0] 98304 320{{$}}
// SCALED-NEXT: {{^}}  [1] 196608 640{{$}}
// SCALED: variable f8/amax
// SCALED: {{^}}  [2] 0 0 100 0 0

weir.variable run @"run/step" : tensor<i32>

func.func @own(%x: tensor<1x4xf32>, %one: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %y = weir.matmul %x, %one : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

func.func @beside(%x: tensor<2x2xf32>, %one: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = weir.matmul %x, %one : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

func.func @step(%x: tensor<1x2xf32>, %one: tensor<2x2xf32>, %g: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<2x2xf32>, tensor<f32>) {
  %y = weir.matmul %x, %one : tensor<1x2xf32>, tensor<2x2xf32> -> tensor<1x2xf32>
  %d = weir.matmul %x, %g {transpose_lhs} : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<2x2xf32>
  %norm = weir.clip (%d) : (tensor<2x2xf32>) -> tensor<f32>
  return %y, %d, %norm : tensor<1x2xf32>, tensor<2x2xf32>, tensor<f32>
}
