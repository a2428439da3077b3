//===- Verify.h - weir verify ---------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_VERIFY_H
#define WEIR_TOOLS_WEIR_COMMANDS_VERIFY_H

#include "tools/weir/commands/Compile.h"

namespace weir {

struct VerifyModelOptions {
  std::string device;            ///< DeviceOptions::kind
  unsigned seed = 1;             ///< of the random numbers the model is run on
  bool full = false;             ///< run every form of it, and look at each gradient by itself
  std::vector<std::string> data; ///< "INPUT=PATH": what it is run on instead of random numbers
};

/// Tests the compile of a model by running what it becomes (verify/Verify.h): as it is trained,
/// and once more with every gradient as an output. Prints on standard error what it will take, a
/// line per stage and how far it is, and the verdict on standard output. Exit::internal where a
/// pass changes what the program computes.
Exit verifyModel(const CompileOptions &options, const VerifyModelOptions &how);

} // namespace weir

#endif
