//===- DriverDevice.cpp - The driver's functions about the device and its context --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Arena.h"
#include "test/emulated-cuda/Driver.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include "test/emulated-cuda/Planted.h"
#include "test/emulated-cuda/Private.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weir::emulated {

using namespace cuda;

static thread_local CUcontext currentContext = nullptr;
static char theContext; ///< its address is the handle

DriverState &driver() {
  static DriverState state;
  return state;
}

std::unique_lock<std::mutex> enterDriver() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

CUresult refuseCall() {
  if (!driver().isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!currentContext || !driver().contextUses)
    return CUDA_ERROR_INVALID_CONTEXT;
  return stickyError();
}

static const std::pair<CUresult, const char *> errorNames[] = {
#define WEIR_EMULATED_NAME(name) {name, #name}
    WEIR_EMULATED_NAME(CUDA_SUCCESS),
    WEIR_EMULATED_NAME(CUDA_ERROR_INVALID_VALUE),
    WEIR_EMULATED_NAME(CUDA_ERROR_OUT_OF_MEMORY),
    WEIR_EMULATED_NAME(CUDA_ERROR_NOT_INITIALIZED),
    WEIR_EMULATED_NAME(CUDA_ERROR_NO_DEVICE),
    WEIR_EMULATED_NAME(CUDA_ERROR_INVALID_DEVICE),
    WEIR_EMULATED_NAME(CUDA_ERROR_INVALID_IMAGE),
    WEIR_EMULATED_NAME(CUDA_ERROR_INVALID_CONTEXT),
    WEIR_EMULATED_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU),
    WEIR_EMULATED_NAME(CUDA_ERROR_INVALID_HANDLE),
    WEIR_EMULATED_NAME(CUDA_ERROR_NOT_FOUND),
    WEIR_EMULATED_NAME(CUDA_ERROR_NOT_READY),
    WEIR_EMULATED_NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
    WEIR_EMULATED_NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    WEIR_EMULATED_NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
    WEIR_EMULATED_NAME(CUDA_ERROR_LAUNCH_FAILED),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
    WEIR_EMULATED_NAME(CUDA_ERROR_CAPTURED_EVENT),
    WEIR_EMULATED_NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
#undef WEIR_EMULATED_NAME
};

} // namespace weir::emulated

namespace weir::cuda {

using namespace emulated;

extern "C" {

CUresult cuInit(unsigned flags) {
  auto entered = enterDriver();
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  driver().isInitialized = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  for (auto [code, name] : errorNames)
    if (code == error) {
      *text = name;
      return CUDA_SUCCESS;
    }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

static CUresult checkDevice(CUdevice device) {
  if (!driver().isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count) {
  *count = !isPlanted("no-gpu");
  return checkDevice(0);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return checkDevice(ordinal);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  std::snprintf(name, size_t(length), "Weir emulated GPU");
  return checkDevice(device);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = isPlanted("old-gpu") ? 7 : 9;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = sharedLimit;
    break;
  default:
    note("the emulated GPU has no attribute " + std::to_string(attribute));
    return CUDA_ERROR_INVALID_VALUE;
  }
  return checkDevice(device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  *bytes = Arena::bytes;
  return checkDevice(device);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  auto entered = enterDriver();
  if (CUresult refused = checkDevice(device))
    return refused;
  ++driver().contextUses;
  *context = reinterpret_cast<CUcontext>(&theContext);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  auto entered = enterDriver();
  if (CUresult refused = checkDevice(device))
    return refused;
  if (!driver().contextUses)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--driver().contextUses == 0)
    weirEmulatedForget();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (context && context != reinterpret_cast<CUcontext>(&theContext))
    return CUDA_ERROR_INVALID_CONTEXT;
  currentContext = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  WEIR_EMULATED_ENTER
  if (CUresult refused = forbidInAnyCapture())
    return refused;
  waitForAll();
  return stickyError();
}

/// The context goes, and all that is in it; the sticky error with it.
void weirEmulatedForget() {
  DriverState &state = driver();
  state.events.clear();
  state.executables.clear();
  state.graphs.clear();
  allStreams().clear();
  state.streams.clear();
  legacyStream() = {};
  resetStreams();
  arena().releaseAll();
  state.modules.clear();
  resetShadow();
  resetFaults();
}

void weirEmulatedReset(int checked, uint64_t seed) {
  auto entered = enterDriver();
  weirEmulatedForget();
  options().checked = checked;
  options().seed = seed;
  random() = Random(seed);
}

const char *weirEmulatedFaults() { return faultText().c_str(); }

int weirEmulatedEnqueue(CUstream stream, const char *name, void (*run)(const void *),
                        const void *data, size_t bytes, const WeirEmulatedRange *ranges,
                        size_t count) {
  WEIR_EMULATED_ENTER
  auto *first = static_cast<const char *>(data);
  return submitWork(stream, name,
                    [run, kept = std::vector<char>(first, first + bytes),
                     touched = std::vector<WeirEmulatedRange>(ranges, ranges + count)] {
                      for (const WeirEmulatedRange &range : touched)
                        for (uint64_t i = 0; i < range.count && !stickyError(); ++i)
                          shadowRange(range.address + i * range.stride, range.bytes,
                                      range.isWrite ? Access::write : Access::read);
                      if (!stickyError())
                        run(kept.data());
                    });
}

int weirEmulatedIsAllocated(CUdeviceptr address, size_t bytes) {
  auto entered = enterDriver();
  return arena().isAllocated(address, bytes);
}

} // extern "C"

} // namespace weir::cuda
