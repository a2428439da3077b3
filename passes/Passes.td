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
    Its options are the fields of weir::Strategy (docs/reference/strategy.md): --weir-strategy="mesh=dp=2,tp=2 zero=1".
    After: the module has weir.strategy. In a compile, the driver sets it.
  }];
  let constructor = "::weir::createStrategy()";
  let dependentDialects = ["::weir::WeirDialect"];
}

// recipe/

def CutMicrobatches : Pass<"weir-cut-microbatches", "::mlir::ModuleOp"> {
  let summary = "changes the number of microbatches of a step";
  let description = [{
    Cuts each of the recipe's batches into equal parts, if its rows are independent and nothing is carried from batch to
    batch. Otherwise, reports an error at the line that ties the rows. Before: weir.microbatches with the recipe's
    count. After: with the strategy's `microbatches`.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def AccumulateGradients : Pass<"weir-accumulate-gradients", "mlir::func::FuncOp"> {
  let summary = "computes the gradient of a loss in each microbatch";
  let description = [{
    The gradient of the loss is the sum of the gradients of the microbatches' shares of it. Counts that are not known at
    compile time are summed first, by a weir.microbatches of their own. A single microbatch is inlined. After: each
    weir.gradient stands in the block that computes its loss, and there is no weir.loss.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Clip : Pass<"weir-clip", "mlir::func::FuncOp"> {
  let summary = "computes the norm of the gradients, and clips them";
  let description = [{
    Replaces every weir.clip by ops on the gradients. Squares are summed gradient by gradient, in their order.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def SkipSteps : Pass<"weir-skip-steps", "mlir::func::FuncOp"> {
  let summary = "keeps the old values if a step is not finite";
  let description = [{
    Replaces every weir.all_finite by ops that decide it, and every write under a condition by a write of the new or the
    old value. No element is written before all new values are known to be finite.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyRecipe : Pass<"weir-verify-recipe", "mlir::func::FuncOp"> {
  let summary = "checks that no op of the recipe is left";
  let description = [{
    Fusion and planning support no weir.loss, weir.clip or weir.all_finite, and no write under a condition.
  }];
}

// precision/

def ScaleLoss : Pass<"weir-scale-loss", "::mlir::ModuleOp"> {
  let summary = "multiplies the loss by a power of two, and its gradients by the inverse";
  let description = [{
    Before: %g = weir.gradient %loss. After: %h = weir.gradient (%loss * scale), %g = %h * (1 / scale), in every block.
    A dynamic scale is a variable of the run, and the step ends by updating it. If the loss is finite and the norm that
    weir.clip computes is not, the scale is halved, but stays at least 1. After 2000 steps with a finite norm, it is
    doubled, up to 2^24. The scale is an output of the step. A program that is already scaled does not change.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def MixedPrecision : Pass<"weir-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "inserts casts, so that products read low-precision floats and sum in f32";
  let description = [{
    Rounds operands and results of products, convolutions and attention to the type of `precision`, and the inputs that
    gradients of composites read (Castable). Everything else computes in f32, from rounded values. A value is rounded
    once, where it is defined; the result of a product is rounded after its bias is added, and the bias is rounded, too.
    So a parameter is rounded once a step. Gradients of parameters leave their products in f32, and the ops after
    weir.clip do not change. An op that is pinned (weir.pin) has its own type. In f8 and f8_block, all this is bf16, and
    operands of products are rounded once more. In f8, their scale follows a history of @step, in a variable that this
    pass declares, or in other entries the tensor itself; in f8_block, each block has its own (decisions 22 and 24). In
    tf32, this pass rounds nothing: weir.factors says what a device may round inside an op, as for the values that
    attention computes itself (decision 26). weir.choices records why each op of @step computes and stores its types,
    unless all of it is f32.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def LowPrecisionGradientReduction : Pass<"weir-low-precision-gradient-reduction", "::mlir::ModuleOp"> {
  let summary = "rounds the gradients of parameters before ranks reduce them";
  let description = [{
    Rounds each f32 operand of weir.clip that has dimensions to `type`, and widens it again, once a step: after the sum
    over all microbatches, and before the division by the loss scale. With weir.parts on the cast, the ranks of a mesh
    round their own terms, and the reduction sends the narrow type.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def BF16Parameters : Pass<"weir-bf16-parameters", "::mlir::ModuleOp"> {
  let summary = "stores parameters and optimizer state in bf16, with stochastic rounding";
  let description = [{
    Before: weir.variable parameter and optimizer of f32, with dimensions. After: of `type`. Reads are widened, which is
    exact. Writes of @step are rounded stochastically (weir.round_at_random), by random numbers from the run's seed, the
    step and the variable's name. Writes of other entries are rounded to nearest. All computation, checks and clipping
    in between stay f32, and so do block state and the scalars of optimizers.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def NativeFP8Products : Pass<"weir-native-fp8-products", "::mlir::ModuleOp"> {
  let summary = "multiplies operands that were rounded to f8 as f8, on targets that support it";
  let description = [{
    Before: weir.matmul of a and b, each an f8 value times a power of two, in bf16, which represents it exactly. After:
    weir.matmul of the f8 values, times both powers of two. Finite results are the same: the sums differ by a power of
    two. The contracted dimension of both operands is the last one; others are transposed, once for all products.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def UpcastUnsupported : Pass<"weir-upcast-unsupported", "::mlir::ModuleOp"> {
  let summary = "widens operands of products that the target cannot multiply";
  let description = [{
    A wider type represents each of their numbers, so no product changes a bit. Each product gets a copy of its own.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

// simplify/

def Simplify : Pass<"weir-simplify", "mlir::func::FuncOp"> {
  let summary = "folds, canonicalizes, merges equal ops and removes dead ones";
  let description = [{
    Runs the dialect's folders and canonicalizations and the patterns of this pass to a fixed point. Then merges equal
    ops, and removes unused ones. No rewrite changes a bit of any result: sums are not reordered.
  }];
}

def MergeEqual : Pass<"weir-merge-equal", "::mlir::ModuleOp"> {
  let summary = "merges equal ops and equal kernels of all phases, and removes dead ones";
  let description = "Common subexpression elimination. Of equal ops, the first stays, in its own phase (weir.phase).";
}

def CountFlops : Pass<"weir-count-flops", "::mlir::ModuleOp"> {
  let summary = "counts the model FLOPs of each entry";
  let description = [{
    Records in weir.model_flops, by entry and line of the model, the FLOPs of products, convolutions and attention
    (Contracting). Changes nothing else. At this point, the program computes everything once; later passes may compute
    some of it twice.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// autodiff/

def Autodiff : Pass<"weir-autodiff", "mlir::func::FuncOp"> {
  let summary = "replaces every weir.gradient by the backward computation";
  let description = [{
    Walks the ops between the sources and the loss in reverse, and asks each for its vector-Jacobian product (the
    Differentiable interface). Adds the cotangents of a value in the reverse order of its uses, so the sum is the same
    in every compile. Gradient ops have the location of the op that they belong to, named "gradient". If a cotangent
    reaches an op that is not differentiable, this is an error; the pass reports all of them.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyDifferentiated : Pass<"weir-verify-differentiated", "mlir::func::FuncOp"> {
  let summary = "checks that no weir.gradient is left";
  let description = "Passes after autodiff support no weir.gradient: one that is left is a fault of the pipeline.";
}

// pipeline/

def AssignStages : Pass<"weir-assign-stages", "::mlir::ModuleOp"> {
  let summary = "assigns the ops of the forward pass to pipeline stages";
  let description = [{
    Cuts the forward pass, in the model's order, into parts that take equal times, where few bytes cross. Changes only
    attributes: weir.stage of ops and variables. Runs before autodiff, so a gradient has the stage of its op.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def CrossStages : Pass<"weir-cross-stages", "::mlir::ModuleOp"> {
  let summary = "assigns all other ops to stages, and inserts the values that cross";
  let description = [{
    Runs after shardings are chosen, and changes none. An op without a stage gets the stage of most of its operands; an
    op that reads no parameter is on all stages. Before: any op reads any value. After: an op reads values of its own
    stage, or of all stages; weir.stage_transfer brings others there.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def SplitStages : Pass<"weir-split-stages", "::mlir::ModuleOp"> {
  let summary = "reduces a program to one rank's stages";
  let description = [{
    The rank is the module's weir.rank. Removes ops of other stages, replaces weir.stage_transfer by weir.send and weir.receive,
    and cuts microbatches that compute gradients into sections, in the order of a schedule.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// sharding/

def PropagateLayouts : Pass<"weir-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "chooses the sharding of every op over a mesh";
  let description = [{
    Shards rows of inputs over dp and ep, experts over ep, positions of sequences over cp, and matrices over the other
    axes. With `zero`, shards optimizer state and parameters, too. Other shardings propagate along the factors of ops.
    Changes only attributes: weir.mesh of the module, weir.sharding of arguments and variables, weir.factor_sharding of
    ops, weir.body_shardings of microbatches (ir/weir/Names.h).
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Partition : Pass<"weir-partition", "::mlir::ModuleOp"> {
  let summary = "makes the program that one rank of a mesh runs";
  let description = [{
    Tensors become the shards of one rank, and collectives stand where an op needs other ranks' shards. Ranks with
    shards of the same sizes run the same program: the position at which a shard begins is a variable of the run,
    run/begin/12@dp. The results of an entry are whole tensors. After: weir.equal_shards, if all shards of each tensor
    have the same size.
  }];
  let options = [Option<"rank", "rank", "int64_t", "0", "the rank whose program to make">,
                 Option<"says", "says", "bool", "false", "record weir.result_shardings, to compare values with the whole program's">];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifySizes : Pass<"weir-verify-sizes", "::mlir::ModuleOp"> {
  let summary = "checks that kernels of the target can index each tensor";
  let description = [{
    Kernels for GPUs index with 32 bits. A whole batch, or the shards of all ranks together, may be larger, so this runs
    after the passes that divide these.
  }];
  let options = [Weir_TargetOption];
}

// collectives/

def BucketCollectives : Pass<"weir-bucket-collectives", "::mlir::func::FuncOp"> {
  let summary = "merges small collectives into buckets";
  let description = [{
    Merges all-reduces, and reduce-scatters and all-gathers over axes of the batch, of one kind, axis and element type,
    up to 262144 elements together. weir.pack concatenates their values, and weir.unpack splits the results. A bucket
    stands where its first collective stood, and has no weir.result_shardings.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def ExpandCollectives : Pass<"weir-expand-collectives", "::mlir::func::FuncOp"> {
  let summary = "expands all_reduce and reduce_scatter into collectives that move rows, and local sums";
  let description = [{
    Each rank sums the received rows in the order of ranks. A reduce_scatter becomes an all_to_all and a sum. An
    all_reduce becomes a reduce_scatter and an all_gather; with fewer than 1024 elements for each member, it becomes an
    all_gather and a sum of all values.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def NumberCollectives : Pass<"weir-number-collectives", "::mlir::func::FuncOp"> {
  let summary = "gives each collective a number that is the same on all ranks";
  let description = [{
    Adds weir.number, from 1 on, in the order of the entry. Later passes order the actions of a rank by its own sizes;
    with these numbers, passes/VerifyRanks.h checks that collectives have one order on all ranks.
  }];
}

// fusion/

def CarrySums : Pass<"weir-carry-sums", "mlir::func::FuncOp"> {
  let summary = "turns the sums over microbatches into carried values";
  let description = [{
    A sum starts at zero, and each round adds to it. The addition can then fuse with the op that computes the summand.
    After: weir.microbatches only carries values.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

def Fuse : Pass<"weir-fuse", "::mlir::ModuleOp"> {
  let summary = "outlines all computation into kernels";
  let description = [{
    Products, convolutions, attention and segment sums become kernels of their own. All other ops are fused into maps
    and rows, and some are computed again where this saves a read. Before: ops. After: weir.kernel, reads, writes and
    aliases. A kernel has its domain as an attribute, and only a shape that the target accepts.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def BatchKernels : Pass<"weir-batch-kernels", "::mlir::ModuleOp"> {
  let summary = "computes many small tensors in one launch";
  let description = [{
    Merges independent kernels of one structure into one kernel with several copies, as many as the target allows: the
    casts of parameters, the sums of squares of gradients, and the updates of a model's layers. Moves a kernel only if
    this costs no memory. A kernel that reads only variables moves up, to the first of its kind. A kernel that writes
    variables, or reads saved tensors and has a small result, moves down, to the last.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def VerifyFused : Pass<"weir-verify-fused", "::mlir::ModuleOp"> {
  let summary = "checks that all computation is in kernels";
  let description = [{
    Planning supports kernels, aliases, variables and microbatches; anything else here is a fault of fusion.
  }];
}

// offload/

def Offload : Pass<"weir-offload", "::mlir::ModuleOp"> {
  let summary = "offloads variables to the host's memory, and fetches them before their use";
  let description = [{
    Each kernel that uses an offloaded variable gets a copy of it, fetched right before the kernel. A new value goes to
    the host as soon as it is computed and the old value has no more readers. Small variables stay on the device.
  }];
  let dependentDialects = ["::weir::WeirDialect"];
}

// remat/

def OrderKernels : Pass<"weir-order-kernels", "::mlir::ModuleOp"> {
  let summary = "orders kernels so that an entry needs less memory";
  let description = [{
    A kernel that allocates more than it frees moves down to the first kernel that reads it; a kernel that frees more
    than it allocates runs as early as possible. The new order is used if the entry needs less memory with it. Kernels
    that read variables or write them do not move.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect", "::weir::plan::PlanDialect"];
}

def Rematerialize : Pass<"weir-rematerialize", "::mlir::ModuleOp"> {
  let summary = "recomputes or offloads activations that do not fit";
  let description = [{
    If an entry exceeds the budget, kernels are run again where their results are needed after the peak, instead of
    saving the results until then. The pass chooses the kernels that take the least time. A recomputed kernel is a copy
    with the same bits. If offloading is allowed and takes less time, a result goes to the host (weir.offload) as soon as it
    is computed, and is fetched. If no choice fits, the pass reports what needs the most memory. Kernels in the blocks
    of weir.recompute are run again for the gradients that read their results, with and without a budget. Before:
    weir.recompute, if the model or the strategy marks blocks. After: weir.keeping, if there is a @step. A kernel that is
    run again reads the parameters that are gathered again (ZeRO 3): their all-gather moves ahead of it, with
    weir.equal_shards.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::WeirDialect", "::weir::plan::PlanDialect"];
}

// lower/

def LowerToPlan : Pass<"weir-lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "turns tensors into buffers, kernels into launches and library calls";
  let description = [{
    Equal kernels become one plan.kernel, which says how the target runs it. A variable is written in place if all
    readers of the old value come before. Before: weir.kernel, reads, writes, aliases, microbatches. After: a plan
    without offsets.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def CompileKernels : Pass<"weir-compile-kernels", "::mlir::ModuleOp"> {
  let summary = "compiles the kernels of a plan to code";
  let description = [{
    If there are kernels, adds the plan.blob that contains the code of every launch. The rest of the plan does not
    change, except the names of kernels if the plans of several ranks share their code. It is an error if kernels are
    planned for another target, or if a kernel's launches, operands or scratch differ from those of its code.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

// memory/

def StagePorts : Pass<"weir-stage-ports", "::mlir::ModuleOp"> {
  let summary = "places inputs and outputs in pinned memory, and copies them to and from the device";
  let description = [{
    For devices with memory of their own; runs before offsets are assigned. Inputs are copied on queue 1, in the order
    in which queue 0 needs them, and queue 0 waits for each as late as possible. Outputs are copied at the entry's end.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def OverlapTransfers : Pass<"weir-overlap-transfers", "::mlir::ModuleOp"> {
  let summary = "starts transfers from the host ahead of their use, and waits later for those to it";
  let description = [{
    Uses queue 1 for transfers from the host, and queue 2 for those to it. Starts a transfer as early, or waits for it
    as late, as its time requires and the memory allows. Runs before offsets are assigned. The arena does not exceed the
    budget, or the size without this pass. Transfers in loops stay on the loop's queue.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def AssignOffsets : Pass<"weir-assign-offsets", "::mlir::ModuleOp"> {
  let summary = "assigns every buffer of a plan an offset in the arena";
  let description = [{
    Numbers the actions of each entry, computes every buffer's lifetime, and assigns offsets so that only buffers that
    are never alive together overlap: largest first, at the lowest free offset. Variables come first, and have the same
    offset in all entries.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

def VerifyPlanned : Pass<"weir-verify-planned", "::mlir::ModuleOp"> {
  let summary = "proves offsets, lifetimes and order of a plan";
  let description = [{
    Every access is inside its buffer, and every byte that is read was written before. Buffers that are alive together
    do not overlap. Of two actions that access the same bytes, at least one of them writing, one happens before the
    other, by its queue or by events.
  }];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

// schedule/

def OrderCollectives : Pass<"weir-order-collectives", "::mlir::func::FuncOp"> {
  let summary = "orders collectives by when their operands are computed";
  let description = [{
    Sorts by the length of the longest chain of ops before each collective, so gradients are reduced as the backward
    pass computes them. A collective of variables only stands where its result is used. All other ops keep their order,
    except those that wait for a collective that has moved down. Before: weir.equal_shards; without it, nothing moves.
  }];
}

def OverlapCollectives : Pass<"weir-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "starts collectives when their operands are computed, and waits where the results are used";
  let description = [{
    Collectives of each axis of the mesh get a queue of their own. Other actions run in between, in an order that gives
    collectives the most time; collectives keep their order, which is the same on all ranks. Runs before offsets are
    assigned. The arena does not exceed the budget, or the size without this pass. If overlap is not faster by the
    clocks of the target and the link, nothing changes.
  }];
  let options = [Weir_TargetOption];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

#endif
