//===- Writer.h - A plan as the bytes of an artifact ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_ARTIFACT_WRITER_H
#define WEIR_CODEGEN_ARTIFACT_WRITER_H

#include "ir/plan/PlanDialect.h"
#include <cstddef>
#include <vector>

namespace weir {

/// Serializes a module in plan form, offsets assigned and kernels compiled. The same module gives
/// the same bytes.
std::vector<std::byte> writeArtifact(mlir::ModuleOp plan);

/// Of a mesh: its ranks' programs, rank 0's first, and of each rank which one it runs.
std::vector<std::byte> writeArtifact(llvm::ArrayRef<mlir::ModuleOp> plans,
                                     llvm::ArrayRef<uint32_t> programOf);

/// Artifacts of one model for several meshes as one, the first of them first
/// (artifact/Alternatives.h). Code that two have alike is there once. Nothing where it
/// would be larger than a file can be.
std::vector<std::byte> joinArtifacts(llvm::ArrayRef<std::vector<std::byte>> artifacts);

} // namespace weir

#endif
