//===- Code.h - The kernels of a program, loaded ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_CODE_H
#define WEIR_RUNTIME_CUDA_CODE_H

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/cuda/CudaCode_generated.h"
#include "runtime/cuda/Libraries.h"
#include <vector>

namespace weir::cuda {

/// The code in a program's blob, and that every kernel is in one of its units; null for a program
/// without kernels. Throws Failure{Exit::model} for what is wrong with it.
const artifact::CudaCode *codeOf(const artifact::Program &program);

/// The functions of a program's kernels. Units whose machine code is not for the device are
/// compiled from their text.
class Code {
public:
  /// `architecture`: the device's, 90 of sm_90. Throws Failure: Exit::model for what is wrong with
  /// the code, Exit::device for the libraries.
  Code(const Driver &driver, const std::string &folder, int architecture,
       const artifact::Program &program);
  ~Code();
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  /// At the kernels' numbers.
  std::vector<CUfunction> functions;
  int compiled = 0; ///< units that were, for this device
  int found = 0;    ///< units that had been

private:
  /// False where the driver takes no such machine code.
  bool load(const artifact::CudaUnit &unit, const void *image);

  const Driver &driver;
  std::vector<CUmodule> modules;
  std::vector<std::pair<std::string, CUfunction>> known;
};

} // namespace weir::cuda

#endif
