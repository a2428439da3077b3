//===- Names.h - The names of attributes ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Program.h says what they mean.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_NAMES_H
#define WEIR_IR_WEIR_NAMES_H

#include "support/program/Names.h"
#include "llvm/ADT/StringRef.h"

namespace weir {

/// Of an entry's arguments.
inline constexpr llvm::StringLiteral inputAttrName = "weir.input", limitAttrName = "weir.limit",
                                     limitConfigAttrName = "weir.limit_config";
/// Of an entry's results.
inline constexpr llvm::StringLiteral outputAttrName = "weir.output", partAttrName = "weir.part",
                                     termAttrName = "weir.term", weightAttrName = "weir.weight";
/// Of a module: the model, its recipe and digests (Digest.h); behind weir-scale-loss the name of
/// its loss scale (support/precision/LossScale.h); why each op computes and stores the types that
/// it does (PrecisionReport.h); where the model says so, the blocks that are computed again
/// (Recompute.h), and the parameters that are sharded so (ShardingConstraints.h); how variables and
/// values are sharded, and why (LayoutReport.h); and what a step keeps (SavedActivationsReport.h).
inline constexpr llvm::StringLiteral modelAttrName = "weir.model", configsAttrName = "weir.configs",
                                     tiedAttrName = "weir.tied", batchAttrName = "weir.batch",
                                     accumulateAttrName = "weir.accumulate",
                                     stepsAttrName = "weir.steps", epochsAttrName = "weir.epochs",
                                     warmupAttrName = "weir.warmup", clipsAttrName = "weir.clips",
                                     trainingDigestAttrName = "weir.training_digest",
                                     predictDigestAttrName = "weir.predict_digest",
                                     lossScaleAttrName = "weir.loss_scale",
                                     choicesAttrName = "weir.choices",
                                     recomputeAttrName = "weir.recompute",
                                     keepingAttrName = "weir.keeping",
                                     shardsAttrName = "weir.shards",
                                     placementsAttrName = "weir.placements";

/// Of a module that has few of a deep model's layers: a dictionary from patterns of blocks, "h.*",
/// to how many of the model's each of its own stands for.
inline constexpr llvm::StringLiteral standsForAttrName = "weir.stands_for";
/// Of a module: the mesh whose ranks run it together, a MeshAttr, and the rank whose sizes it has.
/// Of a variable and of an entry's argument: its sharding. Of an op: the sharding of its factors,
/// each as a dimension; of microbatches: those of the arguments of their body, and those in which
/// the sums of their results are accumulated, where these are reduced in each microbatch.
inline constexpr llvm::StringLiteral meshAttrName = "weir.mesh", rankAttrName = "weir.rank",
                                     shardingAttrName = "weir.sharding",
                                     factorShardingAttrName = "weir.factor_sharding",
                                     bodyShardingsAttrName = "weir.body_shardings",
                                     sumShardingsAttrName = "weir.sum_shardings";
/// Of the module of one rank: all shards of a tensor have the same size. So the ranks of each
/// collective run the same program, and passes may move collectives.
inline constexpr llvm::StringLiteral equalShardsAttrName = "weir.equal_shards";
/// Of attention that is computed in a ring: the sharding of its keys. Of an op that weir-partition
/// has made, if it is asked to say so: the sharding of each result, a unit where it is not known.
inline constexpr llvm::StringLiteral ringShardingAttrName = "weir.ring_sharding",
                                     resultShardingsAttrName = "weir.result_shardings";
/// Of an op: its own precision, whatever the module's, and where the model says so
/// (PrecisionOverrides.h).
inline constexpr llvm::StringLiteral pinAttrName = "weir.pin", pinnedAtAttrName = "weir.pinned_at";
/// Of an op that multiplies: what a device may round its factors to (PrecisionOverrides.h).
inline constexpr llvm::StringLiteral factorsAttrName = "weir.factors";
/// Of a weir.cast that rounds a sum over the rows of a batch: ranks of dp, ep and cp round what
/// each has of it, and add that up.
inline constexpr llvm::StringLiteral partsAttrName = "weir.parts";
/// Of the weir.mul that divides a gradient by the scale of the loss.
inline constexpr llvm::StringLiteral unscalesAttrName = "weir.unscales";

} // namespace weir

#endif
