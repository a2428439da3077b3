//===- RenamedOptions.h - Options by the names that they had before ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_COMMON_RENAMEDOPTIONS_H
#define WEIR_TOOLS_COMMON_RENAMEDOPTIONS_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weir {

/// A command line with the options' names of today, and a note about each that was written with its
/// name of before. These names are accepted for one release.
struct RenamedOptions {
  std::vector<std::string> words; ///< the program's name first
  std::vector<std::string> notes; ///< "--every is now --checkpoint-every"

  /// An option is renamed where its command has the new name and not the old one.
  static RenamedOptions in(const CLI::App &app, int argc, const char *const *argv);
};

/// The name that an option of before has now; "" where it has no other.
std::string nameNow(const std::string &option);

} // namespace weir

#endif
