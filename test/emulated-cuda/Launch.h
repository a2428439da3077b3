//===- Launch.h - A launch of a kernel, checked and kept until it runs --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_LAUNCH_H
#define WEIR_TEST_EMULATED_CUDA_LAUNCH_H

#include "test/emulated-cuda/Module.h"
#include "test/emulated-cuda/Streams.h"

namespace weir::emulated {

/// What cuLaunchKernel is called with.
struct LaunchRequest {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  void **arguments;
};

/// Checks the limits and keeps the values of the arguments, as the driver does; `work` is empty
/// where the result is an error. The work keeps the module loaded.
cuda::CUresult prepareLaunch(const Function &function, const LaunchRequest &request,
                             std::shared_ptr<const Work> &work);

} // namespace weir::emulated

#endif
