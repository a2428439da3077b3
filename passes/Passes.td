//===- Passes.td - Every pass, by folder --------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass = one file = one flag = one test = one name: `def Autodiff` is passes/autodiff/Autodiff.cpp is --weir-autodiff is
// test/passes/autodiff/autodiff.mlir. The order they run in is passes/Pipeline.cpp's.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_TD
#define WEIR_PASSES_TD

include "mlir/Pass/PassBase.td"

def Weir_TargetOption : Option<"target", "target", "std::string", "\"cpu:x86-64-v3\"",
                               "what to compile for, as weir compile --target takes it">;

// strategy/

def Strategy : Pass<"weir-strategy", "::mlir::ModuleOp"> {
  let summary = "sets the strategy of a module, which other passes read";
  let description = [{
    Its options are the fields of weir::Strategy (docs/reference/strategy.md): --weir-strategy="mesh=dp=2,tp=2 zero=1". After:
    weir.strategy of the module. In a compile the driver sets it.
  }];
  let constructor = "::weir::createStrategy()";
  let dependentDialects = ["::weir::WeirDialect"];
}

// recipe/

def CutMicrobatches : Pass<"weir-cut-microbatches", "::mlir::ModuleOp"> {
  let summary = "takes a step in another number of microbatches than the recipe's";
  let description = [{
    Each of the recipe's batches is cut into equal parts, where its rows are independent and nothing is carried from batch to
    batch: anything else is an error at the line that ties them. Before: weir.microbatches of the recipe's count. After: of the strategy's `microbatches`.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def AccumulateGradients : Pass<"weir-accumulate-gradients", "mlir::func::FuncOp"> {
  let summary = "takes the gradient of a loss over microbatches in each of them";
  let description = [{
    The gradient of the loss is the sum of those of the microbatches' shares in it. Counts that are not known when compiling
    are summed first, by microbatches of their own. One microbatch is inlined. Afterwards a weir.gradient stands where its loss is
    computed, and there is no weir.loss.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Clip : Pass<"weir-clip", "mlir::func::FuncOp"> {
  let summary = "computes the gradients' norm and clips them to it";
  let description = "Replaces every weir.clip by ops on the gradients: squares are summed gradient by gradient, in their order.";
  let dependentDialects = ["::weir::WeirDialect"];
}

def SkipSteps : Pass<"weir-skip-steps", "mlir::func::FuncOp"> {
  let summary = "writes what was there before where a step is not finite";
  let description = [{
    Replaces every weir.all_finite by ops that decide it, and every write under a condition by a write of either value: no
    element is written before all are known to be finite.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyRecipe : Pass<"weir-verify-recipe", "mlir::func::FuncOp"> {
  let summary = "checks that nothing of the recipe is left to decide";
  let description = "Fusion and planning know no weir.loss, weir.clip, weir.all_finite and no write under a condition.";
}

// precision/

def ScaleLoss : Pass<"weir-scale-loss", "::mlir::ModuleOp"> {
  let summary = "multiplies what is differentiated by a power of two, and its gradients by the inverse";
  let description = [{
    Before: %g = weir.gradient %loss. After: %h = weir.gradient (%loss * scale), %g = %h * (1 / scale), wherever that stands. A dynamic
    scale is a variable of the run, and the step ends with what it is next: half of it, and at least 1, where the loss is finite and the norm that
    weir.clip gives is not; twice it, and at most 2^24, after 2000 steps with a finite norm. The step has the scale as an output. A program
    that has been scaled stays as it is.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def MixedPrecision : Pass<"weir-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "multiplies floats of low precision, summed up in f32";
  let description = [{
    Operands and results of products, convolutions and attention are rounded to `type`, and what gradients of composites read
    (Castable); all else computes in f32 from what was rounded. A value is rounded once, where it is defined, or behind the
    bias that is added to it alone and rounded as well; a parameter so once a step. Gradients of parameters leave their products in f32, and what is computed
    of gradients, which weir.clip names, stays as it is. An op that is pinned (weir.pin) has its own type instead of `type`. In f8 and
    f8_block all this is bf16, and what is multiplied is rounded once more: in f8 under a scale of what @step has seen, in a variable that it
    declares, or of the tensor itself elsewhere; in f8_block each block under its own (decisions 22 and 24). In tf32 nothing is rounded here:
    weir.factors says what a device may round on its way, as it does of what attention computes itself (decision 26).
    Why each op of @step computes and stores what it does is left in weir.choices, unless all of it is f32.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def LowPrecisionGradientReduction : Pass<"weir-low-precision-gradient-reduction", "::mlir::ModuleOp"> {
  let summary = "rounds the gradients of parameters before ranks add them up";
  let description = [{
    Of what weir.clip names, each in f32 and with dimensions: it is rounded to `type` and widened again, once a step, where it is a sum over all
    microbatches and not yet divided by the scale of the loss. weir.parts of the cast has ranks of a mesh round their parts, so what they exchange is
    as narrow.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def BF16Parameters : Pass<"weir-bf16-parameters", "::mlir::ModuleOp"> {
  let summary = "keeps parameters and what optimizers keep of them in bf16, rounded at random when a step writes them";
  let description = [{
    Before: weir.variable parameter and optimizer of f32, with dimensions. After: of `type`. What is read is widened, which is exact; what @step
    writes is rounded at random (weir.round_at_random), by draws of the run's seed, the step and the variable's name; what other
    entries write is rounded to nearest. What is computed, looked at or clipped in between stays f32, and so do states of blocks
    and optimizers' scalars.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def NativeFP8Products : Pass<"weir-native-fp8-products", "::mlir::ModuleOp"> {
  let summary = "makes products of factors rounded to eight bits ones of eight bits, where the target multiplies these";
  let description = [{
    Before: weir.matmul of a and b, each a float of eight bits times a power of two, rounded to bf16, which changes nothing. After: weir.matmul
    of the floats of eight bits, times one power of two and times the other. Every finite number is the same: what is summed differs by a
    power of two. Both factors have the dimension that is summed last: others are transposed, once for all products.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def UpcastUnsupported : Pass<"weir-upcast-unsupported", "::mlir::ModuleOp"> {
  let summary = "widens the operands of products that the target does not multiply as they are";
  let description = "A wider type holds each of their numbers: no product changes a bit. Each product has a copy of its own.";
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

// simplify/

def Simplify : Pass<"weir-simplify", "mlir::func::FuncOp"> {
  let summary = "folds, canonicalizes, merges equal ops and removes dead ones";
  let description = [{
    Runs the dialect's folders and canonicalizations and the patterns of this pass to a fixed point, then merges equal ops
    and removes what nothing uses. No rewrite changes a bit of any result: sums are not reordered.
  }];
}

def MergeEqual : Pass<"weir-merge-equal", "::mlir::ModuleOp"> {
  let summary = "merges equal ops and equal kernels, whatever their phases, and removes dead ones";
  let description = "Common subexpression elimination. Of equal ones the first stays, in its own phase (weir.phase).";
}

def CountFlops : Pass<"weir-count-flops", "::mlir::ModuleOp"> {
  let summary = "counts what the mathematics of each entry takes";
  let description = [{
    Leaves in weir.model_flops, by entry and line of the model, the FLOPs of products, convolutions and attention (Contracting).
    Nothing else changes. What stands here is what the model says, once: later passes may compute some of it twice.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// autodiff/

def Autodiff : Pass<"weir-autodiff", "mlir::func::FuncOp"> {
  let summary = "replaces every weir.gradient by the backward computation";
  let description = [{
    Walks the ops between the sources and the loss in reverse and asks each for its vector-Jacobian product (the
    Differentiable interface). Cotangents of a value are added in the reverse order of its uses, so the sum is the same in
    every compile. Gradient ops carry the location of the op they belong to, named "gradient". An op that a cotangent reaches
    and that is not differentiable is an error; all of them are reported.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyDifferentiated : Pass<"weir-verify-differentiated", "mlir::func::FuncOp"> {
  let summary = "checks that no weir.gradient is left";
  let description = [{
    Passes after autodiff see the whole step as plain ops: a weir.gradient here is a fault of the pipeline.
  }];
}

// pipeline/

def AssignStages : Pass<"weir-assign-stages", "::mlir::ModuleOp"> {
  let summary = "says on which stage of a pipeline what the step computes forward is";
  let description = [{
    The forward computation, in the model's order, is cut where few bytes cross into parts that take as long as each other. Nothing changes
    but attributes: weir.stage of ops and variables. Ahead of autodiff: a gradient is where its op is.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def CrossStages : Pass<"weir-cross-stages", "::mlir::ModuleOp"> {
  let summary = "says of everything on which stage it is, and what goes from stage to stage";
  let description = [{
    Behind layouts, and changes none. What has no stage yet is where most of what it reads is, and what reads no parameter is on all stages.
    Before: any op reads any value.
    After: an op reads values of its own stage, or of all; weir.cross stands between.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def SplitStages : Pass<"weir-split-stages", "::mlir::ModuleOp"> {
  let summary = "makes a program the one of one rank's stages";
  let description = [{
    Of the module's weir.rank. What is of other stages goes, weir.cross becomes weir.send and weir.receive, and microbatches that compute
    gradients become sections of them, in the order of a schedule.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// sharding/

def PropagateLayouts : Pass<"weir-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "says how every op is cut over the ranks of a mesh";
  let description = [{
    Rows of inputs are cut over dp and ep, experts over ep, the positions of sequences over cp, matrices over the other axes, and with `zero` what lasts,
    and what follows from them along the factors of ops. Nothing changes but attributes: weir.mesh of the module, weir.sharding of arguments and variables, weir.factor_sharding of ops, weir.body_shardings of microbatches
    (ir/weir/Names.h).
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Partition : Pass<"weir-partition", "::mlir::ModuleOp"> {
  let summary = "makes a program the one that each rank of a mesh runs";
  let description = [{
    Tensors become the shares of one rank, and collectives stand where ranks need what others have. Ranks whose shares have the same sizes run the
    same program: where a share begins is a variable of the run, run/begin/12@dp. An entry's results are whole.
  }];
  let options = [Option<"rank", "rank", "int64_t", "0", "the rank whose sizes it has">,
                 Option<"says", "says", "bool", "false", "ops have weir.result_shardings, for who compares their values with the whole ones">];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifySizes : Pass<"weir-verify-sizes", "::mlir::ModuleOp"> {
  let summary = "checks that one device has at most 2147483647 elements of each tensor";
  let description = "Kernels count in 32 bits. A whole batch, or what several ranks have together, may be larger: so behind what cuts these.";
}

// collectives/

def BucketCollectives : Pass<"weir-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "merges small collectives into one";
  let description = [{
    All-reduces, and reduce-scatters and all-gathers over axes of the batch, of one kind, axis and element type, up to 262144 elements together:
    weir.pack puts their values side by side, and weir.unpack takes the results apart. A bucket is where its first collective was, and does not say
    weir.result_shardings.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def ExpandCollectives : Pass<"weir-expand-collectives", "::mlir::func::FuncOp"> {
  let summary = "makes all_reduce and reduce_scatter of collectives that move rows, and local sums";
  let description = [{
    Each rank sums what it gets in the order of ranks. A reduce_scatter is an all_to_all and a sum. An all_reduce is a reduce_scatter and an
    all_gather; where it has fewer than 1024 elements for each member, it is an all_gather and a sum of all values.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def NumberCollectives : Pass<"weir-number-collectives", "::mlir::func::FuncOp"> {
  let summary = "gives each collective the number that it has on all ranks";
  let description = [{
    weir.number, from 1 on, as they stand in the entry. It is how passes behind, which order what a rank does by its own sizes, are held to one
    order on all of them (passes/VerifyRanks.h).
  }];
}

// fusion/

def CarrySums : Pass<"weir-carry-sums", "mlir::func::FuncOp"> {
  let summary = "turns the sums over microbatches into carried values";
  let description = [{
    A sum starts at zero and is added to in every round. The addition then fuses with what computes the summand. Afterwards
    weir.microbatches only carries.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Fuse : Pass<"weir-fuse", "::mlir::ModuleOp"> {
  let summary = "outlines everything that computes into kernels";
  let description = [{
    Products, convolutions, attention and segment sums become kernels of their own; everything else grows into maps and rows.
    Values are computed again where that spares reading them. Before: ops. After: weir.kernel, reads, writes and aliases.
    A kernel has its domain as an attribute, and only a shape that the target does not decline.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def BatchKernels : Pass<"weir-batch-kernels", "::mlir::ModuleOp"> {
  let summary = "computes many small tensors in one launch";
  let description = [{
    Kernels of one structure that need not wait for each other become the copies of one, as many as the target allows: the
    casts of parameters, the sums of squares of gradients, and the updates of a model's layers. Only what costs no memory: what is
    computed of variables alone moves ahead, to the first of its kind; what is written to variables, and what is small and
    read of tensors that are kept, moves back, to the last.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyFused : Pass<"weir-verify-fused", "::mlir::ModuleOp"> {
  let summary = "checks that everything that computes is in a kernel";
  let description = "Planning knows kernels, aliases, variables and microbatches; anything else here is a fault of fusion.";
}

// offload/

def Offload : Pass<"weir-offload", "::mlir::ModuleOp"> {
  let summary = "puts variables into the host's memory, and fetches them where they are used";
  let description = [{
    Each kernel that uses such a variable gets a copy of it that is fetched right ahead of it; what is written to one goes there as soon as
    it is made and nobody wants the old value any more. What is small stays on the device.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// remat/

def OrderKernels : Pass<"weir-order-kernels", "::mlir::ModuleOp"> {
  let summary = "orders kernels so that an entry takes less memory";
  let description = [{
    Kernels that make more than they let go wait for the first that reads them; those that let go of more than they make run as soon
    as they can. The order is kept where the entry takes less with it. What reads variables, or is written to them, stays.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect", "::weir::plan::PlanDialect"];
}

def Rematerialize : Pass<"weir-rematerialize", "::mlir::ModuleOp"> {
  let summary = "computes again what there is no room to keep, or puts it with the host";
  let description = [{
    Where an entry would take more than the budget, kernels are repeated where what they make is needed behind the
    point at which most is kept, instead of its being kept until there: those whose repetition takes least time. What is repeated
    is a copy of the kernel and has the same bits. Where that is allowed and takes less time, a result is put with the host
    (weir.put) as soon as it is made, and fetched. An entry that fits in no way is refused, with what takes most.
    Kernels in the blocks of weir.recompute are repeated for the gradients that read what they make, with a budget and without.
    Before: weir.recompute, perhaps. After: where there is a @step, weir.keeping.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect", "::weir::plan::PlanDialect"];
}

// lower/

def LowerToPlan : Pass<"weir-lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "turns tensors into buffers, kernels into launches and library calls";
  let description = [{
    Equal kernels become one plan.kernel, which says how the target runs it. Values that persist are written in place where
    whoever reads the old ones has done so. Before: weir.kernel, reads, writes, aliases, microbatches. After: a plan without
    offsets.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def CompileKernels : Pass<"weir-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "compiles the kernels of a plan to code";
  let description = [{
    Where there are kernels, adds the plan.blob that holds every launch. The plan stays as it is, but for the names of kernels where
    several ranks' plans share their code: that its kernels are planned for another target, or one with other launches, operands or
    scratch than its code has, is an error.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

// memory/

def StagePorts : Pass<"weir-stage-ports", "::mlir::ModuleOp"> {
  let summary = "puts what the host writes and reads into pinned memory, and copies from and to it";
  let description = [{
    For devices with memory of their own; runs before there are places. Inputs are copied on queue 1, in the order in which queue 0 needs them, each of which it waits
    for as late as it can; outputs are copied at the entry's end.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def OverlapTransfers : Pass<"weir-overlap-transfers", "::mlir::ModuleOp"> {
  let summary = "begins transfers from the host's memory ahead of their use, and waits for those to it later";
  let description = [{
    On queues of their own, 1 from the host and 2 to it, as far ahead or behind as they take, and as there is room. Runs before there are
    places; the arena is no larger than the budget, or than it would be otherwise. Transfers in loops stay on the loop's queue.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def AssignOffsets : Pass<"weir-assign-offsets", "::mlir::ModuleOp"> {
  let summary = "gives every buffer of a plan its place in the arena";
  let description = [{
    Numbers the actions of each entry, finds every buffer's lifetime, and places buffers so that only those that are never alive
    together overlap: largest first, at the lowest offset that is free. Variables come first and keep one place in all entries.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def VerifyPlanned : Pass<"weir-verify-planned", "::mlir::ModuleOp"> {
  let summary = "proves places, lifetimes and order of a plan";
  let description = [{
    Every access lies inside its buffer; everything read was written; buffers that are alive together do not overlap; and of two
    actions that touch the same bytes, one of them to write, one happens before the other, by its queue or by events.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

// schedule/

def OrderCollectives : Pass<"weir-order-collectives", "::mlir::func::FuncOp"> {
  let summary = "puts collectives in the order in which what they read is made";
  let description = [{
    By how many ops each is behind, along the longest way, so gradients come as the backward computation makes them; what is made of variables
    alone comes where it is used. All other ops keep their order, but for who waits for what is behind it now.
  }];
}

def OverlapCollectives : Pass<"weir-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "begins collectives where what they read is made, and waits for them where what they give is used";
  let description = [{
    On a queue of its own for each axis of the mesh, the others between in an order in which they have the most time; collectives keep theirs,
    so that all ranks have the same. Runs before there are places; in a budget the arena is no larger than that allows, or than it would be
    otherwise. What is no faster by the clock of the target and the link stays as it is.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

#endif
