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
#include <cstdlib>
#include <cstring>
#include <thread>

namespace weir::emulated {

using namespace cuda;

static thread_local CUcontext currentContext = nullptr;
static char contexts[mostDevices]; ///< their addresses are the handles

DriverState &driver() {
  static DriverState state;
  return state;
}

static std::mutex mutex;

std::unique_lock<std::mutex> enterDriver() { return std::unique_lock(mutex); }

void leaveDriver(std::chrono::microseconds time) {
  mutex.unlock();
  std::this_thread::sleep_for(time);
  mutex.lock();
}

int deviceCount() {
  static const int count = [] {
    const char *named = std::getenv("WEIR_EMULATED_DEVICES");
    return named ? std::clamp(std::atoi(named), 1, mostDevices) : 8;
  }();
  return count;
}

static CUcontext contextOf(CUdevice device) {
  return reinterpret_cast<CUcontext>(&contexts[device]);
}

int currentDevice() {
  return currentContext ? int(reinterpret_cast<char *>(currentContext) - contexts) : 0;
}

CUresult refuseCall() {
  if (!driver().isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!currentContext || !driver().contextUses[currentDevice()])
    return CUDA_ERROR_INVALID_CONTEXT;
  return stickyError();
}

bool isLost() {
  static int launches = 0;
  if (currentDevice() == plantedDevice) {
    ++launches;
    if (launches == plantedNumber("lost"))
      reportFault(CUDA_ERROR_LAUNCH_FAILED, "device 1 is lost");
    constexpr int64_t late = 10;
    if (launches == plantedNumber("late"))
      leaveDriver(std::chrono::seconds(late));
  }
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
  return device >= 0 && device < deviceCount() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count) {
  *count = isPlanted("no-gpu") ? 0 : deviceCount();
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
  ++driver().contextUses[device];
  *context = contextOf(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  auto entered = enterDriver();
  if (CUresult refused = checkDevice(device))
    return refused;
  if (!driver().contextUses[device])
    return CUDA_ERROR_INVALID_CONTEXT;
  --driver().contextUses[device];
  if (std::ranges::count(driver().contextUses, 0) == mostDevices)
    weirEmulatedForget();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  auto *handle = reinterpret_cast<char *>(context);
  if (context && (handle < contexts || handle >= contexts + deviceCount()))
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

/// The contexts go, and all that is in them; the sticky errors with them.
void weirEmulatedForget() {
  DriverState &state = driver();
  state.events.clear();
  state.executables.clear();
  state.graphs.clear();
  state.streams.clear();
  forgetStreams();
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

int weirEmulatedMeet(CUstream stream, const char *name, const WeirEmulatedMeeting *meeting,
                     void *object, const WeirEmulatedRange *ranges, size_t count) {
  WEIR_EMULATED_ENTER
  Stream *found = driver().stream(stream);
  if (!found)
    return CUDA_ERROR_INVALID_HANDLE;
  auto touch = [touched = std::vector<WeirEmulatedRange>(ranges, ranges + count)](int isWrite) {
    for (const WeirEmulatedRange &range : touched)
      if (range.isWrite == isWrite)
        shadowRange(range.address, range.bytes, isWrite ? Access::write : Access::read);
    return stickyError() == CUDA_SUCCESS;
  };
  auto come = std::make_shared<Work>(), leave = std::make_shared<Work>();
  come->name = leave->name = name;
  come->run = [=, calls = *meeting] {
    if (touch(0))
      calls.come(object);
  };
  leave->isOpen = [=, calls = *meeting] { return calls.isOpen(object) != 0; };
  leave->run = [=, calls = *meeting] {
    if (touch(1))
      calls.leave(object);
  };
  CUresult refused = submit(*found, std::move(come));
  return refused ? refused : submit(*found, std::move(leave));
}

void weirEmulatedNow(WeirEmulatedMoment *moment) {
  auto [chain, tick] = runningMoment();
  *moment = {chain, tick};
}

int weirEmulatedIsAfter(WeirEmulatedMoment moment) {
  return runsAfter({moment.chain, moment.tick});
}

void weirEmulatedReport(const char *what) { reportFault(CUDA_ERROR_LAUNCH_FAILED, what); }

int weirEmulatedIsAllocated(CUdeviceptr address, size_t bytes) {
  auto entered = enterDriver();
  return arena().isAllocated(address, bytes, currentDevice());
}

} // extern "C"

} // namespace weir::cuda
