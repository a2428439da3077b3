//===- StagePasses.h - The passes of pipelines -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated from StagePasses.td, as passes/Passes.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PIPELINE_STAGEPASSES_H
#define WEIR_PASSES_PIPELINE_STAGEPASSES_H

#include "ir/weir/Transfers.h"
#include "mlir/Pass/Pass.h"

namespace weir {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/pipeline/StagePasses.h.inc"

} // namespace weir

#endif
