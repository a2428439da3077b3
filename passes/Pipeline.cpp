//===- Pipeline.cpp - The compile, phase by phase -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of contents of the compiler. Between phases stand passes that only check.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace weir {

template <auto create> static void onModule(OpPassManager &pm) { pm.addPass(create()); }
template <auto create> static void onEntries(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(create());
}

static constexpr PipelinePass microbatchPasses[] = {
    // On the forward computation alone: a backward one would have to be cut with it.
    {"cut-microbatches", false, [](OpPassManager &pm) { pm.addPass(createCutMicrobatches()); }},
    // Autodiff wants the gradient where the loss is computed.
    {"accumulate-gradients", false, onEntries<createAccumulateGradients>},
};

static constexpr PipelinePass differentiatePasses[] = {
    // Equal subexpressions first: what is merged is differentiated once.
    {"simplify-forward", true, onEntries<createSimplify>},
    {"autodiff", false, onEntries<createAutodiff>},
    {"verify-differentiated", false, onEntries<createVerifyDifferentiated>},
};

static constexpr PipelinePass recipePasses[] = {
    // Behind autodiff, so that passes on the whole step still see one norm and one decision. The
    // norm first: it is one of the values that decide.
    {"clip", false, onEntries<createClip>},
    {"skip-steps", false, onEntries<createSkipSteps>},
    {"verify-recipe", false, onEntries<createVerifyRecipe>},
};

static constexpr PipelinePass simplifyPasses[] = {
    // Before simplification, so that a sum's zero and its additions are simplified too.
    {"carry-sums", false, onEntries<createCarrySums>},
    {"simplify", true, onEntries<createSimplify>},
};

static constexpr PipelinePass fusePasses[] = {
    {"fuse", false, onModule<createFuse>},
    // What fusion computes again in a kernel may be there twice.
    {"merge-in-kernels", true, onModule<createCSEPass>},
    {"verify-fused", false, onModule<createVerifyFused>},
};

ArrayRef<Phase> phases() {
  static const Phase all[] = {
      {"microbatch", "how many microbatches a step takes, each with its gradient",
       microbatchPasses},
      {"differentiate", "gradients become ops", differentiatePasses},
      {"recipe", "clipping and the decision to skip become ops", recipePasses},
      {"simplify", "folding, common subexpressions, dead code", simplifyPasses},
      {"fuse", "everything that computes is in a kernel", fusePasses},
  };
  return all;
}

void Phase::add(OpPassManager &manager, ArrayRef<StringRef> without) const {
  for (const PipelinePass &pass : passes)
    if (!llvm::is_contained(without, pass.name))
      pass.add(manager);
}

} // namespace weir
