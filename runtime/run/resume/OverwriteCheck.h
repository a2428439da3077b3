//===- OverwriteCheck.h - Refuses results that overwrite their inputs -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_OVERWRITECHECK_H
#define WEIR_RUNTIME_RUN_RESUME_OVERWRITECHECK_H

#include <string>
#include <vector>

namespace weir {

/// A path as a command line names it.
struct NamedPath {
  std::string words; ///< "--data x=a.npy", "MODEL a.weir"
  std::string path;
  bool folder = false; ///< of several files with names of their own
};

NamedPath namedByOption(const std::string &option, const std::string &path, bool folder = false);

/// The file of each "input=path". Throws Failure(Exit::usage) for a malformed one.
std::vector<NamedPath> namedByData(const std::string &option,
                                   const std::vector<std::string> &sources);

/// Throws Failure(Exit::usage), naming both, if one of `written` is the same file as one of `read`,
/// by any path or link, or a checkpoint's file in such a directory; and if two of `written` are the
/// same path, even if no file exists yet. Devices and pipes do not count. A command calls this
/// before it writes anything.
void checkOverwrites(const std::vector<NamedPath> &written, const std::vector<NamedPath> &read);

} // namespace weir

#endif
