//===- NamedKernel.h - A kernel and the name of its code ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_NAMEDKERNEL_H
#define WEIR_CODEGEN_NAMEDKERNEL_H

#include "ir/weir/kernel/Kernel.h"
#include <string>

namespace weir {

struct NamedKernel {
  KernelOp op;
  std::string symbol;
};

} // namespace weir

#endif
