//===- DriverMemory.cpp - The driver's functions about memory -----------===//
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
#include <cstdlib>
#include <cstring>

namespace weir::emulated {

using namespace cuda;

CUresult submitWork(CUstream handle, std::string name, std::function<void()> run) {
  Stream *stream = driver().stream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  auto work = std::make_shared<Work>();
  work->name = std::move(name);
  work->run = std::move(run);
  return submit(*stream, std::move(work));
}

static CUresult checkRange(const std::string &what, CUdeviceptr address, size_t bytes) {
  if (arena().isAllocated(address, bytes, currentDevice()))
    return CUDA_SUCCESS;
  note(what + " of " + std::to_string(bytes) + " bytes at " + arena().describe(address) +
       ": not of one allocation");
  return CUDA_ERROR_INVALID_VALUE;
}

static void *pointerTo(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

/// A fill of `count` elements.
template <typename Element>
static CUresult fill(CUdeviceptr to, Element value, size_t count, CUstream stream) {
  if (to % sizeof(Element))
    return CUDA_ERROR_INVALID_VALUE;
  if (!count)
    return CUDA_SUCCESS;
  if (CUresult refused = checkRange("a fill", to, count * sizeof(Element)))
    return refused;
  return submitWork(stream, "a fill", [=] {
    shadowRange(to, count * sizeof(Element), Access::write);
    if (!stickyError())
      std::fill_n(static_cast<Element *>(pointerTo(to)), count, value);
  });
}

} // namespace weir::emulated

namespace weir::cuda {

using namespace emulated;

extern "C" {

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  WEIR_EMULATED_ENTER
  *total = Arena::bytes;
  *available = Arena::bytes - arena().used(currentDevice());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  WEIR_EMULATED_ENTER
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult refused = forbidInCapture())
    return refused;
  constexpr size_t mostPlanted = 1 << 10;
  if (bytes > mostPlanted && isPlanted("memory"))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = arena().allocate(bytes, currentDevice());
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/// As the driver's, it waits for all that may use the memory.
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  WEIR_EMULATED_ENTER
  if (!pointer)
    return CUDA_SUCCESS;
  if (CUresult refused = forbidInCapture())
    return refused;
  waitForAll();
  if (!arena().release(pointer))
    return CUDA_ERROR_INVALID_VALUE;
  return stickyError();
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  WEIR_EMULATED_ENTER
  if (CUresult refused = forbidInCapture())
    return refused;
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *pointer = isPlanted("pinned") ? nullptr : std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*pointer)
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (options().checked)
    std::memset(*pointer, 0xff, bytes);
  driver().hostMemory[*pointer] = bytes;
  return CUDA_SUCCESS;
}

/// Also after a fault, so that the process does not leak.
CUresult cuMemFreeHost(void *pointer) {
  auto entered = enterDriver();
  if (driver().contextUses[currentDevice()] && !stickyError()) {
    if (CUresult refused = forbidInCapture())
      return refused;
    waitForAll();
  }
  if (!driver().hostMemory.erase(pointer))
    return pointer ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  std::free(pointer);
  return stickyError();
}

// Host memory is read and written when the node runs: one that is changed too early shows.

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  WEIR_EMULATED_ENTER
  if (!bytes)
    return CUDA_SUCCESS;
  if (CUresult refused = checkRange("a copy to the device", to, bytes))
    return refused;
  if (!from || arena().contains(reinterpret_cast<uint64_t>(from)))
    return CUDA_ERROR_INVALID_VALUE;
  return submitWork(stream, "a copy to the device", [=] {
    shadowRange(to, bytes, Access::write);
    if (!stickyError())
      std::memcpy(pointerTo(to), from, bytes);
  });
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  WEIR_EMULATED_ENTER
  if (!bytes)
    return CUDA_SUCCESS;
  if (CUresult refused = checkRange("a copy to the host", from, bytes))
    return refused;
  if (!to || arena().contains(reinterpret_cast<uint64_t>(to)))
    return CUDA_ERROR_INVALID_VALUE;
  return submitWork(stream, "a copy to the host", [=] {
    shadowRange(from, bytes, Access::read, Unwritten::allowedInPart);
    if (!stickyError())
      std::memcpy(to, pointerTo(from), bytes);
  });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  WEIR_EMULATED_ENTER
  if (!bytes)
    return CUDA_SUCCESS;
  for (CUdeviceptr address : {to, from})
    if (CUresult refused = checkRange("a copy on the device", address, bytes))
      return refused;
  if (to < from + bytes && from < to + bytes && to != from) {
    note("a copy on the device whose two ranges overlap");
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submitWork(stream, "a copy on the device", [=] {
    shadowCopy(to, from, bytes);
    if (!stickyError())
      std::memmove(pointerTo(to), pointerTo(from), bytes);
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  WEIR_EMULATED_ENTER
  return fill(to, value, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  WEIR_EMULATED_ENTER
  return fill(to, value, count, stream);
}

} // extern "C"

} // namespace weir::cuda
