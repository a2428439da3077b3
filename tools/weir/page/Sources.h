//===- Sources.h - The model beside what was made of it -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_SOURCES_H
#define WEIR_TOOLS_WEIR_PAGE_SOURCES_H

#include "runtime/artifact/Artifact_generated.h"
#include <string>
#include <vector>

namespace weir {

/// A file that an artifact's lines are of. An artifact holds names of files, and no text.
struct PageSource {
  std::string name;
  std::string text; ///< with nothing in it that a terminal or a page might act upon
  std::string note; ///< why there is no text, or what is to be known of it; or ""
};

/// The files named by `program`, where they are now. Read are regular files named *.weir, of up to
/// a megabyte: the names are of the file, which may come from anywhere, and the page may be given
/// away. `artifact` is where the artifact lies: what is newer than it is said to be so.
std::vector<PageSource> readSources(const artifact::Program &program, const std::string &artifact);

} // namespace weir

#endif
