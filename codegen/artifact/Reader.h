//===- Reader.h - An artifact's plan as IR --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_ARTIFACT_READER_H
#define WEIR_CODEGEN_ARTIFACT_READER_H

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstddef>
#include <span>

namespace weir {

/// The module in plan form that `file` was written from, so that writeArtifact() of it gives the
/// same bytes. What the file does not keep is which parts of buffers had
/// names of their own, and whether a buffer was allocated in a repeat: all are at the entry's head.
/// Locations are those of the model's lines; the ops of a kernel's meaning have those of its first
/// launch.
///
/// `file` is 16-byte aligned. Throws Failure as artifact::verify does (artifact/Reader.h);
/// returns null, after a diagnostic, where a kernel's meaning is missing, does not parse, or does
/// not fit its operands.
mlir::OwningOpRef<mlir::ModuleOp> readPlan(std::span<const std::byte> file,
                                           mlir::MLIRContext &context);

} // namespace weir

#endif
