//===- Faults.h - What went wrong, in words and as the driver's error ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_FAULTS_H
#define WEIR_TEST_EMULATED_CUDA_FAULTS_H

#include "runtime/cuda/Api.h"
#include <string>

namespace weir::emulated {

/// Writes "emulated CUDA: <what>" as one line on stderr and makes `error` what every later call of
/// the driver returns for the device, unless another came first: a GPU's context is lost in the
/// same way. The device is that of what runs, else the current one.
void reportFault(cuda::CUresult error, const std::string &what);

/// A line on stderr that is no fault of the device's: a call that was refused, and why.
void note(const std::string &what);

/// The device's sticky error; CUDA_SUCCESS while there is none.
cuda::CUresult stickyError();
cuda::CUresult stickyErrorOf(int device);

/// Every line since the last reset, each with its newline.
const std::string &faultText();

void resetFaults();

} // namespace weir::emulated

#endif
