//===- FatalErrors.h - What LLVM cannot go on from ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM and MLIR are built without exceptions: where memory ends or no thread is to be had, in any
// of their threads, they abort the process or read through the null pointer that they were given.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_FATALERRORS_H
#define WEIR_TOOLS_WEIR_FATALERRORS_H

#include <new>

namespace weir {

/// As long as it lives, such an end is a message and an exit status instead. One at a time.
class FatalErrors {
public:
  FatalErrors();
  ~FatalErrors();
  FatalErrors(const FatalErrors &) = delete;
  FatalErrors &operator=(const FatalErrors &) = delete;

private:
  std::new_handler before;
};

} // namespace weir

#endif
