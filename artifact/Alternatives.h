//===- Alternatives.h - Programs for several meshes ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact may have a model's programs for several meshes, no two of which have as many
// processes. They train the same variables by the same recipe, so that one goes on from another's
// checkpoint. Of verified programs.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_ALTERNATIVES_H
#define WEIR_ARTIFACT_ALTERNATIVES_H

#include "artifact/Artifact_generated.h"
#include "support/mesh/Mesh.h"
#include <vector>

namespace weir::artifact {

/// As many as one artifact may have, the first included.
constexpr size_t mostAlternatives = 64;

/// The program itself, the first, and those for other meshes.
std::vector<const Program *> alternativesOf(const Program &program);

/// Their processes' meshes, the first first; without axes for one device.
std::vector<Mesh> meshesOf(const Program &program);

/// The one for so many processes, or null.
const Program *programFor(const Program &program, int64_t processes);

} // namespace weir::artifact

#endif
