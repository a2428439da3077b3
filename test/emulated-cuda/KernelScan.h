//===- KernelScan.h - The kernels of a program's text -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_KERNELSCAN_H
#define WEIR_TEST_EMULATED_CUDA_KERNELSCAN_H

#include <string>
#include <vector>

namespace weir::emulated {

struct KernelName {
  std::string name;
  unsigned maxThreads = 0; ///< of __launch_bounds__, where that is a number
};

/// Every `extern "C" __global__ void [__launch_bounds__(...)] name(`, outside comments.
std::vector<KernelName> scanKernels(const std::string &text);

} // namespace weir::emulated

#endif
