//===- Faults.cpp - What went wrong, in words and as the driver's error ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Driver.h"
#include <cstdio>

namespace weir::emulated {

static cuda::CUresult sticky[mostDevices] = {};
static std::string lines;

void note(const std::string &what) {
  std::fprintf(stderr, "emulated CUDA: %s\n", what.c_str());
  lines += what + "\n";
}

void reportFault(cuda::CUresult error, const std::string &what) {
  note(what);
  cuda::CUresult &first = sticky[activeDevice()];
  if (first == cuda::CUDA_SUCCESS)
    first = error;
}

cuda::CUresult stickyError() { return sticky[activeDevice()]; }
cuda::CUresult stickyErrorOf(int device) { return sticky[device]; }

const std::string &faultText() { return lines; }

void resetFaults() {
  for (cuda::CUresult &error : sticky)
    error = cuda::CUDA_SUCCESS;
  lines.clear();
}

} // namespace weir::emulated
