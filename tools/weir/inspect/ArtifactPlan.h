//===- ArtifactPlan.h - The plan that an artifact holds -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// weir inspect --plan, weir run --check-every-op, and what --nan trace says of ops. Without types
// of MLIR's, as Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_ARTIFACTPLAN_H
#define WEIR_TOOLS_WEIR_INSPECT_ARTIFACTPLAN_H

#include "runtime/run/RunOptions.h"
#include <cstddef>

namespace weir {

/// The plan as MLIR text with locations, which weir-opt reads. Throws Failure(Exit::model).
std::string planText(const std::vector<std::byte> &artifact);

/// Has a run compare everything it computes with the reference interpreter (verify/CheckActions.h),
/// and say on standard error how far it is and what it has compared. The run ends at the first
/// difference with Failure(Exit::internal). Throws Failure(Exit::model) where the plan cannot be
/// read, and as refuseCheckEveryOp() does where it is of several ranks.
void checkEveryOp(const std::vector<std::byte> &artifact, RunOptions &options);

/// Throws Failure(Exit::usage): a program of several ranks is not checked so.
[[noreturn]] void refuseCheckEveryOp(const std::string &mesh);

/// Has --nan trace and --replay name the op within a kernel (verify/FindOp.h). The plan is read
/// when a step is looked at.
void findOpsIn(const std::vector<std::byte> &artifact, RunOptions &options);

} // namespace weir

#endif
