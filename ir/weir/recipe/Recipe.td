//===- Recipe.td - What a recipe asks of a step ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step as the frontend records it: the forward computation on the recipe's batch, in weir.microbatches, and behind it what
// the recipe says, in the words of the recipe. The passes of passes/recipe/ choose how it is done.
//
//   %sum, %count = weir.microbatches 4 sliced(%window) carried() : .. { the loss's terms }
//   %loss = weir.loss [1.0] sums(%sum) counts(%count) : ..
//   %g = weir.gradient %loss wrt(%w) : ..
//   %norm, %clipped = weir.clip (%g) to %limit : ..
//   .. the optimizer's next %w1 of @w ..
//   %finite = weir.all_finite %loss, %norm, %w1 : ..
//   weir.write @w, %w1 if %finite : ..
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RECIPE_TD
#define WEIR_RECIPE_TD

include "ir/weir/WeirBase.td"

def Weir_LossOp : Weir_Op<"loss", [Pure, AttrSizedOperandSegments]> {
  let summary = "the sum over terms of weight * sum / count";
  let description = [{
    Sums and counts are of all rows of the step, so no cut into microbatches changes the loss. A count depends on nothing
    that is trained: no gradient flows through it. A term whose count is 0 is 0, and so is its gradient.
    C1: as many weights and counts as sums, and at least one.
  }];
  let arguments = (ins DenseF64ArrayAttr:$weights, Variadic<Weir_FloatScalar>:$sums, Variadic<Weir_FloatScalar>:$counts);
  let results = (outs Weir_FloatScalar:$loss);
  let assemblyFormat = [{$weights `sums` `(` $sums `)` `counts` `(` $counts `)` attr-dict
      `:` functional-type(operands, $loss)}];
  let hasVerifier = 1;
}

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
