//===- Libraries.h - CUDA's libraries, opened when they are needed ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_LIBRARIES_H
#define WEIR_RUNTIME_CUDA_LIBRARIES_H

#include "runtime/cuda/Api.h"
#include <string>

namespace weir::cuda {

#define WEIR_CUDA_POINTER(type, name, arguments) type(*name) arguments = nullptr;

struct Driver {
  WEIR_CUDA_DRIVER(WEIR_CUDA_POINTER)
};
struct Nvrtc {
  WEIR_CUDA_NVRTC(WEIR_CUDA_POINTER)
};
struct CublasLt {
  WEIR_CUDA_CUBLASLT(WEIR_CUDA_POINTER)
};
struct Nccl {
  WEIR_CUDA_NCCL(WEIR_CUDA_POINTER)
};

#undef WEIR_CUDA_POINTER

/// Where libraries are looked for: a folder, or "" for where the system looks, and behind that for
/// all but the driver the folders that WEIR_CUDA_LIBRARIES names, separated by colons.
///
/// Each is opened once for a folder, at the first call, and stays open: of several versions the one
/// that fits the driver's best (13, of CUDA 13.1). Throws Failure{Exit::device} for one that is
/// missing or lacks a function; `otherwise` is what its user might do instead.
const Driver &openDriver(const std::string &folder);
const Nvrtc &openNvrtc(const std::string &folder, int driverVersion, const char *otherwise);
const CublasLt &openCublasLt(const std::string &folder, int driverVersion);
const Nccl &openNccl(const std::string &folder);

/// Throws Failure{Exit::device} for an error of the driver: what was being done, the error's name
/// and what to do.
void check(const Driver &driver, CUresult result, const std::string &doing);

} // namespace weir::cuda

#endif
