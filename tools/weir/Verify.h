//===- Verify.h - weir verify ---------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_VERIFY_H
#define WEIR_TOOLS_WEIR_VERIFY_H

#include "tools/weir/Compile.h"

namespace weir {

/// Tests the compile of a model by running it after every pass (verify/Verify.h): as it is
/// trained, and once more with every gradient as an output. Prints a line per stage on standard
/// error and the verdict on standard output. Exit::internal where a pass changes what the program
/// computes.
Exit verifyModel(const CompileOptions &options, unsigned seed);

} // namespace weir

#endif
