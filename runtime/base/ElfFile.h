//===- ElfFile.h - What is wrong with a library's file --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_ELFFILE_H
#define WEIR_RUNTIME_BASE_ELFFILE_H

#include <string>

namespace weir {

/// Why a file is not a shared library for this processor ("is truncated"), or "". dlopen waits for
/// ever for a writer of a FIFO, maps a file that ends before what its headers say, so that the
/// process ends with SIGBUS where it reads the rest, and says of another processor's library that
/// there is no such file. "" of what is not there or cannot be read: dlopen says so itself.
std::string faultOfLibrary(const std::string &path);

} // namespace weir

#endif
