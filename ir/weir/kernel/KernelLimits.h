//===- KernelLimits.h - How large a kernel may be -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion keeps these; what comes after it relies on them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_KERNEL_KERNELLIMITS_H
#define WEIR_IR_WEIR_KERNEL_KERNELLIMITS_H

#include <cstddef>

namespace weir {

/// Inputs and results of a weir.kernel together. A launch has a workspace besides, and an artifact
/// takes no launch of more than 1024 operands (artifact/Reader.h).
constexpr size_t mostKernelOperands = 1023;

/// Ops that are fused into one map or row, not counting the cheap ones that it clones. The time to
/// compile a kernel grows faster than the kernel: without a bound, a program of one long chain of
/// elementwise ops takes hours. The largest kernels of the models that ship have about 60.
constexpr size_t mostKernelOps = 256;

} // namespace weir

#endif
