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

def Weir_RandomOp : Weir_TensorOp<"random", [Lowered, Localized]> {
  let summary = "random numbers: uniform in [0, 1), or normal with mean 0 and deviation 1";
  let description = [{
    Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The key is (seed, step); the counter
    is the logical element index (64 bits) and `key` (64 bits), a hash of the instance's path and the ordinal of the draw in
    it. The element index counts on over microbatches: round * elements + the row-major index. Of a part of a tensor, `places` are the
    indices in the whole, which has `elements`. They have 32 bits, without a sign: of a whole of more elements they are the indices in
    a run of `block` elements, and second the numbers of the runs.
    That makes four words. A uniform number is made of the first, or of that which `word` says: draws that differ in it alone
    share their work. A normal number is made of the first two.
    C1: `word` is 1, 2 or 3, and of a uniform draw.  C2: there are `places`, of the result's shape, where there are `elements`.
    C3: there are two, and `block`, which divides `elements` and is at most 4294967296, where `elements` is more than that.
  }];
  let arguments = (ins Weir_IntScalar:$seed, Weir_IntScalar:$step, Weir_IntScalar:$round, Weir_Distribution:$distribution,
                       Variadic<Weir_IntTensor>:$places, OptionalAttr<I64Attr>:$elements, OptionalAttr<I64Attr>:$block, I64Attr:$key, OptionalAttr<I64Attr>:$word);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$seed, "::mlir::Value":$step, "::mlir::Value":$round,
                                 "::weir::Distribution":$distribution, "uint64_t":$key),
      [{ build($_builder, $_state, type, seed, step, round, distribution, ::mlir::ValueRange(), ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), key, ::mlir::IntegerAttr()); }]>];
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$distribution `seed` $seed `step` $step `round` $round (`at` $places^ `of` $elements)? attr-dict
      `:` functional-type(operands, $result)}];
  let flops = "";
  let rounding = "";
  let fusion = "fused";
  let hasVerifier = 1;
}

#endif
