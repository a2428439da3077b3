//===- Lines.h - Where in the model something is said ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_LINES_H
#define WEIR_ARTIFACT_LINES_H

#include "artifact/Artifact_generated.h"
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir {

/// (file, line): the file is an index into the artifact's.
using Lines = std::set<std::pair<uint32_t, uint32_t>>;

using Locations = flatbuffers::Vector<const artifact::Location *>;

/// The known ones of an action's locations, which may be null.
Lines linesOf(const Locations *locations);

/// As "gpt.weir:12", in order.
std::vector<std::string> placesOf(const artifact::Program &program, const Lines &lines);

/// "a.weir:3", "a.weir:7", "b.weir:1" as "a.weir:3,7 b.weir:1".
std::string linesText(const std::vector<std::string> &places);

} // namespace weir

#endif
