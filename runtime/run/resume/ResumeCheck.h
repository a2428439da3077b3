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
// number of steps are not compared here.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_RESUMECHECK_H
#define WEIR_RUNTIME_RUN_RESUME_RESUMECHECK_H

#include "runtime/checkpoint/Manifest.h"
#include <functional>
#include <vector>

namespace weir {

/// What --change may name.
const std::vector<std::string> &changeableFacts();

/// Compares what the checkpoint in `path` was made with with what is to go on. `say` is told of
/// what differs and is allowed, and of what an old checkpoint does not know. Throws Failure with
/// all that differs and is not `allowed`: Exit::model where it is the model or its configs,
/// otherwise Exit::usage.
void requireSameRun(const std::string &path, const Manifest &before, const Manifest &now,
                    const std::vector<std::string> &allowed,
                    const std::function<void(const std::string &)> &say);

} // namespace weir

#endif
