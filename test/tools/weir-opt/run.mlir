// RUN: weir-opt %s --run --entry mean --input=2x2xf32=1,2,3,4 --input=2xf32=0.5 | FileCheck %s --check-prefix=MEAN
// MEAN: mean: 2xf32
// MEAN-NEXT: {{^}}  2 3{{$}}
// MEAN-NEXT: larger: 2x2xi1
// MEAN-NEXT: {{^}}  [0] true true{{$}}
// MEAN-NEXT: {{^}}  [1] true true{{$}}

// After passes, kernels and plans are run as what they mean.
// RUN: weir-opt %s --weir-fuse --run --entry mean --input=2x2xf32=1,2,3,4 --input=2xf32=0.5 | FileCheck %s --check-prefix=MEAN
// RUN: weir-opt %s --weir-fuse --weir-lower-to-plan --weir-assign-offsets --run --entry mean --input=2x2xf32=1,2,3,4 \
// RUN:   --input=2xf32=0.5 --variable=w=3xf32=0 --variable=run/step=i32=0 | FileCheck %s --check-prefix=MEAN
// RUN: weir-opt %s --weir-fuse --weir-lower-to-plan --run --entry mean --input=2x2xf32=1,2,3,4 \
// RUN:   --input=2xf32=0.5 --variable=w=3xf32=0 --variable=run/step=i32=0 | FileCheck %s --check-prefix=MEAN

// RUN: weir-opt %s --run --entry mean --input=2x2xf32=nan,inf,-inf,1.5 --input=2xf32=-1e30,0x1p-3 | FileCheck %s --check-prefix=NAN
// NAN: mean: 2xf32
// NAN-NEXT: {{^}}  nan inf{{$}}
// NAN-NEXT: larger: 2x2xi1
// NAN-NEXT: {{^}}  [0] false true{{$}}
// NAN-NEXT: {{^}}  [1] false true{{$}}

// RUN: weir-opt %s --run --entry step --variable=w=3xf32=1,2,3 --variable=run/step=i32=2147483647 | FileCheck %s --check-prefix=STEP
// STEP: output0: f32
// STEP-NEXT: {{^}}  6{{$}}
// STEP-NEXT: variable run/step: i32
// STEP-NEXT: {{^}}  -2147483648{{$}}
// STEP-NEXT: variable w: 3xf32
// STEP-NEXT: {{^}}  0.899999976 1.79999995 2.69999993{{$}}

// RUN: weir-opt %s --run --entry types --input=3xui8=0,200,255 --input=2xi1=true,0 | FileCheck %s --check-prefix=TYPES
// TYPES: output0: 3xui8
// TYPES-NEXT: {{^}}  0 200 255{{$}}
// TYPES-NEXT: output1: 2xi1
// TYPES-NEXT: {{^}}  false true{{$}}

weir.variable parameter @w : tensor<3xf32>
weir.variable run @"run/step" : tensor<i32>

func.func @mean(%x: tensor<2x2xf32> {weir.input = "x"}, %y: tensor<2xf32> {weir.input = "y"})
    -> (tensor<2xf32> {weir.output = "mean", weir.part = "tensor"}, tensor<2x2xi1> {weir.output = "larger", weir.part = "tensor"}) {
  %sum = weir.reduce sum %x {axes = array<i64: 0>} : tensor<2x2xf32> -> tensor<2xf32>
  %half = weir.constant 0.5 : f32 -> tensor<2xf32>
  %mean = weir.mul %sum, %half : tensor<2xf32>
  %shifted = weir.sub %mean, %y : tensor<2xf32>
  %r = weir.add %shifted, %half : tensor<2xf32>
  %rows = weir.broadcast %y {dimensions = array<i64: 1>} : tensor<2xf32> -> tensor<2x2xf32>
  %larger = weir.compare gt %x, %rows : tensor<2x2xf32> -> tensor<2x2xi1>
  return %r, %larger : tensor<2xf32>, tensor<2x2xi1>
}

func.func @step() -> (tensor<f32> {weir.output = "output0", weir.part = "tensor"}) {
  %w = weir.read @w : tensor<3xf32>
  %sum = weir.reduce sum %w {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %rate = weir.constant 0.9 : f32 -> tensor<3xf32>
  %next = weir.mul %w, %rate : tensor<3xf32>
  weir.write @w, %next : tensor<3xf32>
  %step = weir.read @"run/step" : tensor<i32>
  %one = weir.constant 1 : i32 -> tensor<i32>
  %after = weir.add %step, %one : tensor<i32>
  weir.write @"run/step", %after : tensor<i32>
  return %sum : tensor<f32>
}

func.func @types(%u: tensor<3xui8> {weir.input = "u"}, %b: tensor<2xi1> {weir.input = "b"})
    -> (tensor<3xui8> {weir.output = "output0", weir.part = "tensor"}, tensor<2xi1> {weir.output = "output1", weir.part = "tensor"}) {
  %not = weir.not %b : tensor<2xi1>
  return %u, %not : tensor<3xui8>, tensor<2xi1>
}
