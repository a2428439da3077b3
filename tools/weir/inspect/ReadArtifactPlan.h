//===- ReadArtifactPlan.h - An artifact as a plan module ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_READARTIFACTPLAN_H
#define WEIR_TOOLS_WEIR_INSPECT_READARTIFACTPLAN_H

#include "codegen/artifact/Reader.h"

namespace weir {

/// Throws Failure(Exit::model), with the reason, where it cannot be read.
mlir::OwningOpRef<mlir::ModuleOp> readArtifactPlan(const std::vector<std::byte> &artifact,
                                                   mlir::MLIRContext &context);

} // namespace weir

#endif
