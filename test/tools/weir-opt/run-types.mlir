// What a function is given or gives has to be a tensor that the interpreter holds; no op verifies the types of a function.

// RUN: not weir-opt %s --run --entry empty --input=0x3xf32= 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: @empty: input0 is tensor<0x3xf32>, expected from 1 to 2^56 elements
// RUN: not weir-opt %s --run --entry dynamic --input=?xf32=1 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: error: @dynamic: input0 is tensor<?xf32>, expected a static shape
// RUN: not weir-opt %s --run --entry wraps --input=4294967296x4294967296xf32= 2>&1 | FileCheck %s --check-prefix=WRAPS
// WRAPS: error: @wraps: input0 is tensor<4294967296x4294967296xf32>, expected from 1 to 2^56 elements
// RUN: not weir-opt %s --run --entry large --input=300000000x300000000xf32=1 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: @large: image is tensor<300000000x300000000xf32>, expected from 1 to 2^56 elements
// RUN: not weir-opt %s --run --entry double --input=2xf64=1 2>&1 | FileCheck %s --check-prefix=F64
// F64: error: @double: input0 is tensor<2xf64>, expected elements of type f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2
// RUN: not weir-opt %s --run --entry long --input=2xi64=1 2>&1 | FileCheck %s --check-prefix=I64
// I64: error: @long: input0 is tensor<2xi64>, expected elements of type f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2
// RUN: not weir-opt %s --run --entry index --input=2xindex=1 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: @index: input0 is tensor<2xindex>, expected elements of type f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2
// RUN: not weir-opt %s --run --entry complex 2>&1 | FileCheck %s --check-prefix=COMPLEX
// COMPLEX: error: @complex: output0 is tensor<2xcomplex<f32>>, expected elements of type f32, i32, ui8, i1, bf16, f16, f8E4M3FN or f8E5M2
// RUN: not weir-opt %s --run --entry number --input=f32=1 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: @number: input0 is f32, expected a tensor

// Each is within the limit, but all together are more than half a terabyte in f64.
// RUN: not weir-opt %s --run --entry many 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: @many {{needs at least 550 GB, but this machine has [0-9]+ GB: the interpreter holds every element as f64; run it with smaller shapes|has 16 inputs, but 0 were given}}

func.func @empty(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {
  return %a : tensor<0x3xf32>
}

func.func @dynamic(%a: tensor<?xf32>) {
  return
}

func.func @wraps(%a: tensor<4294967296x4294967296xf32>) {
  return
}

func.func @large(%a: tensor<300000000x300000000xf32> {weir.input = "image"}) {
  return
}

func.func @double(%a: tensor<2xf64>) {
  return
}

func.func @long(%a: tensor<2xi64>) {
  return
}

func.func @index(%a: tensor<2xindex>) {
  return
}

func.func @complex() -> tensor<2xcomplex<f32>> {
  %c = complex.constant [1.0 : f32, 0.0 : f32] : complex<f32>
  %t = tensor.splat %c : tensor<2xcomplex<f32>>
  return %t : tensor<2xcomplex<f32>>
}

func.func @number(%a: f32) {
  return
}

!large = tensor<2147483647xf32>
func.func @many(%a: !large, %b: !large, %c: !large, %d: !large, %e: !large, %f: !large, %g: !large, %h: !large,
                %i: !large, %j: !large, %k: !large, %l: !large, %m: !large, %n: !large, %o: !large, %p: !large) {
  return
}
