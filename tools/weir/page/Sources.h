//===- Sources.h - The model beside what was made of it -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PAGE_SOURCES_H
#define WEIR_TOOLS_WEIR_PAGE_SOURCES_H

#include "artifact/Artifact_generated.h"
#include <string>
#include <vector>

namespace weir {

/// A file that an artifact's lines are of. An artifact holds names of files, and no text.
struct PageSource {
  std::string name;
  std::string text; ///< with nothing in it that a terminal or a page might act upon
  std::string note; ///< why there is no text, or what is to be known of it; or ""
};

/// The files named by `program`. An artifact may come from anywhere, and the page may be given
/// away, so the names lead nowhere: read are the files of `models`, which the user has named, and
/// regular files, no links, beside `artifact`. Each is the source of the same file name, ends in
/// .weir and has up to a megabyte. What is newer than the artifact is said to be so. Throws
/// Failure(Exit::usage) for one of `models` whose name the program does not have.
std::vector<PageSource> readSources(const artifact::Program &program, const std::string &artifact,
                                    const std::vector<std::string> &models);

} // namespace weir

#endif
