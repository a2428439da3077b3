//===- Pipeline.cpp - The compile, pass by pass ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of contents of the compiler. Passes that only check stand between the groups of passes.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "codegen/artifact/Writer.h"
#include "ir/weir/Names.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Strategy.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/VerifyRanks.h"
#include <map>

using namespace mlir;

namespace weir {

template <auto create> static void onModule(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(create());
}
template <auto create> static void onEntries(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(create());
}

template <auto create>
static void onModuleWithMesh(OpPassManager &pm, const PipelineOptions &options) {
  if (options.strategy.hasMesh())
    pm.addPass(create());
}
template <auto create>
static void onEntriesWithMesh(OpPassManager &pm, const PipelineOptions &options) {
  if (options.strategy.hasMesh())
    pm.addNestedPass<func::FuncOp>(create());
}
template <auto create>
static void onModuleWithStages(OpPassManager &pm, const PipelineOptions &options) {
  if (options.strategy.stages() > 1)
    pm.addPass(create());
}

static constexpr PipelinePass microbatchPasses[] = {
    // On the forward pass alone: after autodiff, the backward pass would have to be cut as well.
    {"cut-microbatches", false, onModule<createCutMicrobatches>},
    // Autodiff needs the gradient in the block that computes the loss.
    {"accumulate-gradients", false, onEntries<createAccumulateGradients>},
};

static constexpr PipelinePass differentiatePasses[] = {
    // Before autodiff, so that it differentiates the scaled loss.
    {"scale-loss", false, onModule<createScaleLoss>},
    // Equal subexpressions are merged first, and then differentiated once.
    {"simplify-forward", true, onEntries<createSimplify>},
    // Before autodiff: a gradient gets the stage of its op, and the ops still have the model's
    // order.
    {"assign-stages", false, onModuleWithStages<createAssignStages>},
    {"autodiff", false, onEntries<createAutodiff>},
    {"verify-differentiated", false, onEntries<createVerifyDifferentiated>},
};

static constexpr PipelinePass precisionPasses[] = {
    // On the whole step: a value that the backward pass reads, too, is rounded once.
    {"mixed-precision", false, onModule<createMixedPrecision>, /*changesNumbers=*/true},
    // After mixed precision, which leaves gradients as f32 sums.
    {"low-precision-gradient-reduction", false, onModule<createLowPrecisionGradientReduction>,
     /*changesNumbers=*/true},
};

static constexpr PipelinePass recipePasses[] = {
    // After autodiff, so that earlier passes on the whole step see one op for the norm and one for
    // the decision. The norm comes first, because it is one of the values that decide.
    {"clip", false, onEntries<createClip>},
    {"skip-steps", false, onEntries<createSkipSteps>},
    // After both, which read values before they are rounded. A skipped step writes the old values,
    // which are rounded already.
    {"bf16-parameters", false, onModule<createBF16Parameters>, /*changesNumbers=*/true},
    {"verify-recipe", false, onEntries<createVerifyRecipe>},
};

static constexpr PipelinePass layoutPasses[] = {
    // Merges equal ops, so that each is partitioned once.
    {"simplify-whole", true, onEntriesWithMesh<createSimplify>},
    // Counts those of all ranks together.
    {"count-flops-whole", true, onModuleWithMesh<createCountFlops>},
    // After the recipe's passes: clipping, the decision to skip and optimizers are now ordinary
    // ops.
    {"propagate-layouts", false, onModuleWithMesh<createPropagateLayouts>},
    // After all passes that change numbers, so that no number depends on a stage.
    {"cross-stages", false, onModuleWithStages<createCrossStages>},
};

static constexpr PipelinePass partitionPasses[] = {
    // Before carry-sums, because sums over microbatches may still be partial over ranks. Before
    // fusion, which depends on the sizes of a rank's shards.
    {"partition", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       if (options.strategy.hasMesh())
         pm.addPass(createPartition({options.rank, /*says=*/false}));
     }},
    // Small collectives are bucketed first, so that a bucket is expanded once.
    {"bucket-collectives", true, onEntriesWithMesh<createBucketCollectives>},
    {"expand-collectives", false, onEntriesWithMesh<createExpandCollectives>},
    // Right after them: up to here, all stages share one program.
    {"split-stages", false, onModuleWithStages<createSplitStages>},
};

static constexpr PipelinePass simplifyPasses[] = {
    // Before simplification, which also simplifies a sum's zero and its additions.
    {"carry-sums", false, onEntries<createCarrySums>},
    {"simplify", true, onEntries<createSimplify>},
    // Unused ops are gone now.
    {"verify-sizes", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createVerifySizes(options.target));
     }},
    // After simplification and before fusion: counts ops that are used, each once, before fusion
    // computes some of them twice.
    {"count-flops", true,
     [](OpPassManager &pm, const PipelineOptions &options) {
       if (!options.strategy.hasMesh())
         pm.addPass(createCountFlops());
     }},
    // Both run after the passes that merge equal ops, and before those that depend on a rank's own
    // sizes.
    {"order-collectives", true,
     [](OpPassManager &pm, const PipelineOptions &options) {
       if (options.strategy.overlaps())
         pm.addNestedPass<func::FuncOp>(createOrderCollectives());
     }},
    {"number-collectives", false, onEntriesWithMesh<createNumberCollectives>},
};

static constexpr PipelinePass fusePasses[] = {
    // After all passes that read casts as the precision passes insert them. This is the first pass
    // that asks the target: numbers do not depend on it, except by the order of its library's sums.
    {"native-fp8-products", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createNativeFP8Products(options.target));
     }},
    // After all passes that merge equal ops, so that each product keeps a wide copy of its own.
    // Before fusion asks which kernels the target declines, because that depends on the operands'
    // types.
    {"upcast-unsupported", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createUpcastUnsupported(options.target));
     }},
    // Gives each kernel a shape that the target can run.
    {"fuse", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createFuse(options.target));
     }},
    // Merges ops that fusion has cloned into a kernel twice.
    {"merge-in-kernels", true, onModule<createMergeEqual>},
    // After all passes that merge equal ops: a tensor that is fetched twice is on the device once
    // at a time.
    {"offload", false, onModule<createOffload>},
    // After all passes that change the bodies of kernels, so that equal kernels have equal bodies.
    {"batch-kernels", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createBatchKernels(options.target));
     }},
    // After all passes that merge kernels.
    {"order-kernels", true,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createOrderKernels(options.target));
     }},
    // After all passes that order or merge kernels.
    {"rematerialize", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createRematerialize(options.target, options.memoryReport));
     }},
    {"verify-fused", false, onModule<createVerifyFused>},
};

static constexpr PipelinePass planPasses[] = {
    // The first pass with buffers: later passes move buffers, and change no values.
    {"lower-to-plan", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createLowerToPlan(options.target));
     }},
    {"stage-ports", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       if (options.target && options.target->stagesPorts())
         pm.addPass(createStagePorts());
     }},
    // Moves collectives and computation.
    {"overlap-collectives", true,
     [](OpPassManager &pm, const PipelineOptions &options) {
       if (options.strategy.overlaps())
         pm.addPass(createOverlapCollectives(options.target));
     }},
    // The last pass that moves actions.
    {"overlap-transfers", true,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(createOverlapTransfers(options.target));
     }},
    {"assign-offsets", false, onModule<createAssignOffsets>},
    // After the last pass that assigns offsets or orders actions.
    {"verify-planned", false, onModule<createVerifyPlanned>},
};

static constexpr PipelinePass generatePasses[] = {
    // Last, because it takes most of the time: all checks come before it.
    {"compile-kernels", false,
     [](OpPassManager &pm, const PipelineOptions &options) {
       pm.addPass(
           createCompileKernels(options.target, options.dumpKernels, options.time, options.others));
     }},
};

ArrayRef<PassGroup> passGroups() {
  static const PassGroup all[] = {
      {"microbatch", "how many microbatches a step takes, each with its gradient",
       microbatchPasses},
      {"differentiate", "gradients become ops", differentiatePasses},
      {"precision", "products of floats of low precision, if any are asked for", precisionPasses},
      {"recipe", "clipping, the decision to skip and what is written become ops", recipePasses},
      {"layouts", "how every op is cut over the ranks of a mesh, if there is one", layoutPasses},
      {"partition", "one rank's program, with collectives where it needs what others have",
       partitionPasses},
      {"simplify", "folding, common subexpressions, dead code", simplifyPasses},
      {"fuse", "everything that computes is in a kernel", fusePasses},
      {"plan", "tensors become buffers with a place, kernels actions in order", planPasses},
      {"generate", "kernels become code; the artifact is written from it", generatePasses},
  };
  return all;
}

ArrayRef<PassGroup> passGroupsOnTensors() { return passGroups().drop_back(2); }

void PassGroup::add(OpPassManager &manager, const PipelineOptions &options) const {
  for (const PipelinePass &pass : passes)
    if (!llvm::is_contained(options.without, pass.name))
      pass.add(manager, options);
}

static LogicalResult runPassGroup(const PassGroup &group, ModuleOp module, PipelineOptions options,
                                  bool verified) {
  TimingScope time = options.time ? options.time->nest(group.name) : TimingScope();
  options.time = &time;
  PassManager manager(module.getContext());
  // Compiling kernels times its own steps.
  if (group.name != "generate")
    manager.enableTiming(time);
  manager.enableVerifier(false);
  group.add(manager, options);
  if (options.watch)
    options.watch(manager);
  if (failed(manager.run(module)) || (verified && failed(verify(module))))
    return failure();
  if (options.afterPassGroup)
    options.afterPassGroup(group.name, module);
  return success();
}

void attachStrategy(ModuleOp module, const Strategy &strategy) { setStrategy(module, strategy); }

LogicalResult runPassGroups(ModuleOp module, const PipelineOptions &options, StringRef last,
                            StringRef first) {
  attachStrategy(module, options.strategy);
  // Verifying takes as long as a pass group on tensors. So it runs only after the last of those,
  // and after each later pass group.
  StringRef lastOnTensors = passGroupsOnTensors().back().name;
  bool onTensors = true, begun = first.empty();
  for (const PassGroup &group : passGroups()) {
    onTensors &= group.name != lastOnTensors;
    begun |= group.name == first;
    if (!begun)
      continue;
    if (failed(runPassGroup(group, module, options, !onTensors || group.name == last)))
      return failure();
    if (group.name == last)
      break;
  }
  return success();
}

static const PipelinePass &passNamed(StringRef name) {
  for (const PassGroup &group : passGroups())
    for (const PipelinePass &pass : group.passes)
      if (pass.name == name)
        return pass;
  llvm_unreachable("the pipeline has no such pass");
}

static LogicalResult runPasses(ArrayRef<StringRef> names, ModuleOp module,
                               const PipelineOptions &options) {
  attachStrategy(module, options.strategy);
  PassManager manager(module.getContext());
  for (StringRef name : names)
    passNamed(name).add(manager, options);
  if (options.watch)
    options.watch(manager);
  return manager.run(module);
}

LogicalResult runPass(StringRef name, ModuleOp module, const PipelineOptions &options) {
  return runPasses(name, module, options);
}

/// The rank of the first stage whose shards have the same sizes.
static int64_t onFirstStage(const Mesh &mesh, int64_t rank) {
  int axis = mesh.find(stageAxis);
  return axis < 0 ? rank : mesh.along(rank, unsigned(axis)).front();
}

FailureOr<std::vector<OwningOpRef<ModuleOp>>> planRanks(ModuleOp module, ArrayRef<int64_t> ranks,
                                                        PipelineOptions options) {
  const Mesh &mesh = options.strategy.mesh;
  // These passes make the program of all stages.
  SmallVector<StringRef> ofAllStages = {"partition", "bucket-collectives", "expand-collectives"};
  llvm::erase_if(ofAllStages,
                 [&](StringRef pass) { return llvm::is_contained(options.without, pass); });
  std::map<int64_t, OwningOpRef<ModuleOp>> partitioned;
  for (int64_t rank : ranks)
    if (int64_t first = onFirstStage(mesh, rank); !partitioned.count(first))
      partitioned[first] = module.clone();
  for (auto &[rank, program] : partitioned) {
    options.rank = rank;
    TimingScope time = options.time ? options.time->nest("partition") : TimingScope();
    if (failed(runPasses(ofAllStages, *program, options)))
      return failure();
  }
  std::vector<StringRef> without(options.without.begin(), options.without.end());
  llvm::append_range(without, ofAllStages);
  options.without = without;
  std::vector<OwningOpRef<ModuleOp>> plans;
  for (int64_t rank : ranks) {
    ModuleOp program = *plans.emplace_back(partitioned.at(onFirstStage(mesh, rank))->clone());
    program->setAttr(rankAttrName, Builder(module.getContext()).getI64IntegerAttr(rank));
    options.rank = rank;
    if (failed(runPassGroups(program, options, "plan", "partition")))
      return failure();
  }
  return plans;
}

static FailureOr<std::vector<std::byte>> compileRanks(ModuleOp module, PipelineOptions options) {
  StringRef last = passGroups().back().name;
  if (failed(runPassGroups(module, options, "layouts")))
    return failure();
  RankPrograms programs = rankPrograms(module, options.strategy.mesh);
  OwningOpRef<ModuleOp> whole;
  if (programs.firstRank.size() > 1)
    whole = module.clone();
  options.rank = programs.firstRank.front();
  if (failed(runPassGroups(module, options, "plan", "partition")))
    return failure();
  auto others = planRanks(*whole, ArrayRef(programs.firstRank).drop_front(), options);
  if (failed(others))
    return failure();
  std::vector<ModuleOp> modules = {module};
  for (OwningOpRef<ModuleOp> &other : *others)
    modules.push_back(*other);
  // Proves all of them together before code generation, which takes longest.
  {
    TimingScope time = options.time ? options.time->nest("verify-ranks") : TimingScope();
    if (failed(verifyRanks(modules, programs.programOf)))
      return failure();
  }
  options.others = ArrayRef(modules).drop_front();
  if (failed(runPassGroups(module, options, last, last)) ||
      !llvm::all_of(options.others, [](ModuleOp other) { return succeeded(verify(other)); }))
    return failure();
  TimingScope time = options.time ? options.time->nest("artifact") : TimingScope();
  return writeArtifact(modules, programs.programOf);
}

FailureOr<std::vector<std::byte>> compile(ModuleOp module, const PipelineOptions &options) {
  if (options.strategy.hasMesh())
    return compileRanks(module, options);
  if (failed(runPassGroups(module, options, passGroups().back().name)))
    return failure();
  TimingScope time = options.time ? options.time->nest("artifact") : TimingScope();
  return writeArtifact(module);
}

} // namespace weir
