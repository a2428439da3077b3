//===- Ranges.h - What profilers show of actions ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_RANGES_H
#define WEIR_RUNTIME_CUDA_RANGES_H

#include <string>

namespace weir::cuda {

/// From here to its end, what the thread asks the GPU for is `name` in the timeline of NVIDIA's
/// profilers (an NVTX range). Costs next to nothing without one; is nothing where Weir was built
/// without the CUDA toolkit's headers.
class Range {
public:
  explicit Range(const std::string &name);
  ~Range();
  Range(const Range &) = delete;
  Range &operator=(const Range &) = delete;
};

} // namespace weir::cuda

#endif
