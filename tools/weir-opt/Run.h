//===- Run.h - weir-opt --run ---------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one function, or one entry of a plan, with the reference interpreter on tensors from the
// command line, after the passes that were asked for, and prints what comes out instead of the IR.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPT_RUN_H
#define WEIR_TOOLS_WEIR_OPT_RUN_H

#include "mlir/Pass/Pass.h"

namespace weir {

/// Adds --run, --entry, --input and --variable to the command line.
void registerRunOptions();

/// Whether --run was given. A use of its companions without it ends the process with a message.
bool runWasAsked();

/// The pass that does it, last of all.
std::unique_ptr<mlir::Pass> createRunPass();

} // namespace weir

#endif
