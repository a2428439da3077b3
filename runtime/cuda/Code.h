//===- Code.h - The kernels of a program, loaded ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_CODE_H
#define WEIR_RUNTIME_CUDA_CODE_H

#include "artifact/Artifact_generated.h"
#include "artifact/CudaCode_generated.h"
#include "runtime/cuda/Session.h"
#include <memory>
#include <type_traits>
#include <vector>

namespace weir::cuda {

/// The code in a program's blob, and that every kernel is in one of its units; null for a program
/// without kernels. Throws Failure{Exit::model} for what is wrong with it.
const artifact::CudaCode *codeOf(const artifact::Program &program);

/// The symbol of the kernel that is the unit's function number `function`.
std::string symbolOf(const artifact::CudaUnit &unit, unsigned function);

/// The functions of a program's kernels. Units whose machine code is not for the device are
/// compiled from their text.
class Code {
public:
  /// `takesCubins`: whether the device runs machine code of a GPU; else all is compiled by the
  /// NVRTC in `folder`. Throws Failure: Exit::model for what is wrong with the code, Exit::device
  /// for the libraries.
  Code(const Session &session, const std::string &folder, bool takesCubins,
       const artifact::Program &program);

  /// At the kernels' numbers.
  std::vector<CUfunction> functions;

private:
  /// False where the driver takes no such machine code. `image` is aligned as malloc's memory is.
  bool load(const artifact::CudaUnit &unit, const void *image);

  struct Unload {
    const Driver *driver;
    void operator()(CUmodule module) const { driver->cuModuleUnload(module); }
  };
  const Driver &driver;
  std::vector<std::unique_ptr<std::remove_pointer_t<CUmodule>, Unload>> modules;
  std::vector<std::pair<std::string, CUfunction>> known;
};

} // namespace weir::cuda

#endif
