//===- WeirRecipe.td - What a recipe asks of a step --------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the recipe says of a step, in its own words, behind the gradients. The passes of passes/recipe/ choose how it is done.
//
//   %norm, %clipped = weir.clip (%g) to %limit : ..
//   .. the optimizer's next %w1 of @w ..
//   %finite = weir.all_finite %loss, %norm, %w1 : ..
//   weir.write @w, %w1 if %finite : ..
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RECIPE_TD
#define WEIR_RECIPE_TD

include "ir/weir/WeirBase.td"

def Weir_ClipOp : Weir_Op<"clip", [Pure, AttrSizedOperandSegments]> {
  let summary = "gradients scaled so that their global norm is at most a limit, and the norm that they had";
  let description = [{
    The norm is the root of the sum of the squares of all elements of all gradients. The factor is min(1, limit / (norm + 1e-6)),
    as in torch.nn.utils.clip_grad_norm_. Without a limit the gradients stay as they are, and the op says their norm alone.
    C1: with a limit one result of equal type for each gradient, without one none.
  }];
  let arguments = (ins Variadic<Weir_FloatTensor>:$gradients, Optional<Weir_FloatScalar>:$limit);
  let results = (outs Weir_FloatScalar:$norm, Variadic<Weir_FloatTensor>:$clipped);
  let assemblyFormat = [{`(` $gradients `)` (`to` $limit^)? attr-dict `:` functional-type(operands, results)}];
  let hasVerifier = 1;
}

def Weir_AllFiniteOp : Weir_Op<"all_finite", [Pure]> {
  let summary = "whether no element is infinite or no number";
  let description = [{
    A step writes under this condition: where its loss, its gradients' norm or anything that it would write is not finite, it
    changes nothing (docs/decisions/0013-new-values-computed-twice.md).
  }];
  let arguments = (ins Variadic<Weir_FloatTensor>:$values);
  let results = (outs Weir_BoolScalar:$finite);
  let assemblyFormat = "$values attr-dict (`:` type($values)^)?";
}

#endif
