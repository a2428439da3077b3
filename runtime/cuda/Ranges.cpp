//===- Ranges.cpp - What profilers show of actions --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Ranges.h"

#ifdef WEIR_NVTX_HEADERS
#include <nvtx3/nvToolsExt.h>
#endif

namespace weir::cuda {

#ifdef WEIR_NVTX_HEADERS
Range::Range(const std::string &name) { nvtxRangePushA(name.c_str()); }
Range::~Range() { nvtxRangePop(); }
#else
Range::Range(const std::string &) {}
Range::~Range() = default;
#endif

} // namespace weir::cuda
