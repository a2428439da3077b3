//===- ElfFile.h - Whether a shared library's file is whole ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_BASE_ELFFILE_H
#define WEIR_RUNTIME_BASE_ELFFILE_H

#include <string>

namespace weir {

/// Whether a 64-bit ELF file ends before what its headers say it has. dlopen maps such a file, and
/// the process ends with SIGBUS where it reads the rest. False of what cannot be read or is no ELF
/// file: dlopen says so itself.
bool isTruncated(const std::string &path);

} // namespace weir

#endif
