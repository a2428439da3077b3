//===- Program.h - What every training program has --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's verifiers look at ops; a module may pass them and have lost its loss. This looks at
// the module as a whole, whoever made it.
//
// A module holds a program: weir.variable ops, and a func.func for each entry: @init, @step, @eval,
// @eval_one, @predict, and @init_states where states begin as parameters do: what @init makes of
// them once more, of the parameters as they are. Its attributes (Names.h declares their names):
//
//   weir.model                the model's name, a string
//   weir.configs              a dictionary from the name of a config to its value, a string
//   weir.batch, weir.accumulate, weir.steps, weir.epochs         i64
//   weir.warmup               the longest warm-up of a schedule, in steps, i64
//   weir.clips                where the recipe clips gradients, a unit
//   weir.training_digest, weir.predict_digest                    i64 (Digest.h)
//   weir.tied                 where rows of a batch are tied: from an entry's name to where and why
//   weir.loss_scale           where gradients are scaled: how, a string
//   weir.strategy             what passes carry out, a #weir.strategy (Strategy.h)
//   weir.choices              behind mixed precision, unless all is f32 (PrecisionReport.h)
//   weir.model_flops          behind simplification (Contracting.h)
//   weir.mesh, weir.rank      of a program for several ranks (Names.h)
//   weir.shards               parameters that the model shards itself (ShardingConstraints.h)
//   weir.stands_for           of a module with few of a deep model's layers (Names.h)
//   weir.recompute            up to rematerialization (Recompute.h)
//   weir.keeping              behind rematerialization (SavedActivationsReport.h)
//
// An op may have weir.pin and weir.pinned_at (PrecisionOverrides.h). An entry's arguments are
// inputs: weir.input (name), weir.limit (i64), weir.limit_config (string). Its results are outputs:
// weir.output (name), weir.part ("scalar", "sum", "count", "tensor"), weir.term (i64), weir.weight
// (f64).
//
// The run's scalars are the i32 variables @"run/seed", @"run/step" and @"run/total_steps" (@step is
// a function; the artifact names them without the prefix), and with a dynamic loss scale
// @"run/loss_scale" and @"run/good_steps". In f8 @step has @"f8/amax".
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_H
#define WEIR_IR_WEIR_PROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace weir {

/// An error at a function that is not one block with a func.return: what passes on whole entries
/// expect.
mlir::LogicalResult requireBody(mlir::func::FuncOp entry);

/// What an entry that computes a loss lacks ("`step` has no loss"), or "": a loss has at least one
/// term, and each term its sum and its count, once.
std::string missingLoss(mlir::func::FuncOp entry);

/// What a module that the frontend made lacks, or "": the entries `init`, `step` and `eval`,
/// the last two and `eval_one`, where there is one, with a loss; results in every other entry but
/// `init` and `init_states`; an initial value of every variable but those of the run; an update of
/// at least one parameter where gradients are taken.
std::string missingPart(mlir::ModuleOp program);

/// The names of the variables that lie with the host.
llvm::StringSet<> variablesOnHost(mlir::ModuleOp program);

} // namespace weir

#endif
