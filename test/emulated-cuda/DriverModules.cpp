//===- DriverModules.cpp - The driver's functions about modules and launches --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Driver.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Launch.h"
#include "test/emulated-cuda/Planted.h"
#include <cstring>

namespace weir::cuda {

using namespace emulated;

/// The function of a handle; handles live as long as their module.
static Function *functionOf(CUfunction handle) { return reinterpret_cast<Function *>(handle); }

extern "C" {

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  WEIR_EMULATED_ENTER
  if (CUresult refused = forbidInCapture())
    return refused;
  if (emulated::isPlanted("module"))
    return CUDA_ERROR_INVALID_IMAGE;
  std::shared_ptr<Module> loaded;
  if (CUresult failed = loadModule(image, loaded))
    return failed;
  *module = driver().modules.add(std::move(loaded));
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule handle) {
  auto entered = enterDriver();
  return driver().modules.take(handle) ? stickyError() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  WEIR_EMULATED_ENTER
  Module *module = driver().modules.find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  for (const auto &candidate : module->functions)
    if (std::strcmp(candidate->entry->name, name) == 0) {
      *function = reinterpret_cast<CUfunction>(candidate.get());
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
  WEIR_EMULATED_ENTER
  Function *function = functionOf(handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      unsigned(value) + function->module->staticShared() > sharedLimit)
    return CUDA_ERROR_INVALID_VALUE;
  function->dynamicSharedLimit = unsigned(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        CUstream streamHandle, void **arguments, void **extra) {
  WEIR_EMULATED_ENTER
  Function *function = functionOf(handle);
  Stream *stream = driver().stream(streamHandle);
  if (!function || !stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (isLost())
    return stickyError();
  std::shared_ptr<const Work> work;
  if (CUresult refused = prepareLaunch(
          *function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, arguments},
          work))
    return refused;
  return submit(*stream, std::move(work));
}

} // extern "C"

} // namespace weir::cuda
