//===- SizeOption.h - Sizes on the command line -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_SIZEOPTION_H
#define WEIR_TOOLS_WEIR_OPTIONS_SIZEOPTION_H

#include <cstdint>
#include <string>

namespace weir {

/// What of `here` a process has for its code and its libraries, rather than for its run; and what
/// one has besides that has compiled before it runs (test/e2e/memory-test.py measures both).
constexpr int64_t bytesOfProcess = int64_t(64) << 20, bytesOfCompiler = int64_t(192) << 20;

/// "6GiB", "500 MB", "1.5e9" or "here": the whole number of bytes. Sets `saysHere` where it is
/// here. Throws CLI::ValidationError where it is no size.
std::string sizeInBytes(const std::string &text, bool &saysHere);

} // namespace weir

#endif
