//===- ResumeCheck.h - Checks that a run resumes with its own settings ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run that resumes with another model, other data or another order ends with weights that no
// command describes. The manifest of a checkpoint records the settings with which the run began.
// --change allows named differences. The number of threads, the target, the paths of files and the
// number of steps may differ anyway. So may most fields of the strategy, such as the mesh; resuming
// reports those.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_RESUMECHECK_H
#define WEIR_RUNTIME_RUN_RESUME_RESUMECHECK_H

#include "runtime/checkpoint/Manifest.h"
#include <functional>
#include <vector>

namespace weir {

/// What --change may name: facts of a run, and the fields of a strategy that are recorded.
const std::vector<std::string> &changeableFacts();

/// Compares the run that wrote the checkpoint in `path` with the run that resumes it. Reports to
/// `say` the differences that are allowed, and what an old checkpoint did not record. Throws
/// Failure with all differences that are not `allowed`: Exit::model if one is of the model, its
/// configs or the strategy, otherwise Exit::usage.
void requireSameRun(const std::string &path, const Manifest &before, const Manifest &now,
                    const std::vector<std::string> &allowed,
                    const std::function<void(const std::string &)> &say);

} // namespace weir

#endif
