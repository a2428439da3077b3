//===- Say.h - A line for the user ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. While a run shows its progress, Progress says it instead.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_SAY_H
#define WEIR_RUNTIME_REPORT_SAY_H

#include "support/Utf8.h"
#include <iostream>
#include <string>

namespace weir {

/// Of a run of several processes rank 0 alone says what all would.
inline bool sayNothing = false;

/// On standard error, at once, whoever else says it.
inline void sayAlways(const std::string &line) { std::cerr << printable(line) << std::endl; }

/// On standard error, at once.
inline void say(const std::string &line) {
  if (!sayNothing)
    sayAlways(line);
}

} // namespace weir

#endif
