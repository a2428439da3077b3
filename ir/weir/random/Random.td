//===- Random.td - Random numbers --------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RANDOM_TD
#define WEIR_RANDOM_TD

include "ir/weir/WeirBase.td"

def Weir_Distribution : I32EnumAttr<"Distribution", "what random draws from", [
    I32EnumAttrCase<"uniform", 0>, I32EnumAttrCase<"normal", 1>]> {
  let cppNamespace = "::weir";
}

def Weir_RandomOp : Weir_TensorOp<"random", [Lowered]> {
  let summary = "random numbers: uniform in [0, 1), or normal with mean 0 and deviation 1";
  let description = [{
    Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The key is (seed, step); the counter
    is the logical element index (64 bits) and `key` (64 bits), a hash of the instance's path and the ordinal of the draw in
    it. The element index counts on over microbatches: round * elements + the row-major index.
  }];
  let arguments = (ins Weir_IntScalar:$seed, Weir_IntScalar:$step, Weir_IntScalar:$round, Weir_Distribution:$distribution,
                       I64Attr:$key);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$distribution `seed` $seed `step` $step `round` $round attr-dict
      `:` functional-type(operands, $result)}];
  let factors = "seed:, step:, round: -> result: *d";
  let flops = "";
  let rounding = "";
  let fusion = "fused";
}

#endif
