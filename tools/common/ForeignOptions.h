//===- ForeignOptions.h - Options and commands of other tools -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What people type who come from PyTorch, its launchers and its trainers. A report about an option,
// a value or a command that Weir does not have asks here what to write instead, as the frontend
// asks frontend/foreign about names in a model.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_COMMON_FOREIGNOPTIONS_H
#define WEIR_TOOLS_COMMON_FOREIGNOPTIONS_H

#include <span>
#include <string>
#include <string_view>

namespace weir {

struct ForeignOption {
  /// The names, with spaces between them: "--lr --learning-rate". A command has no dashes; a value
  /// is OPTION=VALUE, "--device=gpu", of an option that Weir has.
  const char *names;
  const char *code; ///< what to write: options, or a command; "" where nothing is to be written
  const char *note; ///< more about it; may be ""
};

std::span<const ForeignOption> foreignOptions();

/// The row of an option, OPTION=VALUE or a command; null where there is none. Underscores count as
/// hyphens, capital letters as small ones.
const ForeignOption *foreignOption(std::string_view name);

/// Whether `weir compile` has that option, which weir-run knows nothing else of.
bool isCompileOption(std::string_view name);

} // namespace weir

#endif
