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

#include "runtime/base/Utf8.h"
#include <iostream>
#include <string>

namespace weir {

/// On standard error, at once.
inline void say(const std::string &line) { std::cerr << printable(line) << std::endl; }

} // namespace weir

#endif
