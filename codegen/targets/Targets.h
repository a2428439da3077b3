//===- Targets.h - The targets there are ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_TARGETS_TARGETS_H
#define WEIR_CODEGEN_TARGETS_TARGETS_H

#include "codegen/Target.h"

namespace weir {

/// The target that an option names, such as "cpu:x86-64-v3"; null for anything else, and for a
/// description of this machine, such as "cpu", where there is no target for it.
std::unique_ptr<Target> makeTarget(llvm::StringRef option);

/// What makeTarget takes, for messages: "cpu:x86-64-v3, ... or cpu:x86-64-v4+bf16+amx, or cpu on
/// ...".
std::string targetOptions();

/// The dialects of the code that targets emit.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace weir

#endif
