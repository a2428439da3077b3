//===- Session.cpp - The driver's state of one device -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Session.h"
#include "support/Error.h"

namespace weir::cuda {

Session::Session(const std::string &folder, int64_t number, bool mayBeOnly)
    : driver(openDriver(folder)) {
  check(driver.cuInit(0), "starting the NVIDIA driver");
  int count = 0;
  check(driver.cuDeviceGetCount(&count), "counting GPUs");
  if (!count)
    check(CUDA_ERROR_NO_DEVICE, "looking for a GPU");
  if (number >= count && !(mayBeOnly && count == 1))
    throw Failure(Exit::device, "this machine shows " + std::to_string(count) +
                                    (count == 1 ? " GPU" : " GPUs") +
                                    ", and each rank on it needs one of its own, this one number " +
                                    std::to_string(number + 1) +
                                    ": compile for a smaller --mesh, or start processes on more "
                                    "machines");
  check(driver.cuDeviceGet(&device, number < count ? int(number) : 0), "looking for a GPU");
  int major = 0, minor = 0;
  auto ask = [&](int *value, int attribute) {
    check(driver.cuDeviceGetAttribute(value, attribute, device), "asking about the GPU");
  };
  ask(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  ask(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  architecture = 10 * major + minor;
  if (architecture < 80)
    throw Failure(Exit::device, "the GPU has compute capability " + std::to_string(major) + "." +
                                    std::to_string(minor) +
                                    ", kernels need 8.0 or more: compile with --target cpu");
  int version = 0;
  check(driver.cuDriverGetVersion(&version), "asking about the driver");
  driverVersion = version / 1000;
  char text[128] = "";
  check(driver.cuDeviceGetName(text, sizeof text, device), "asking about the GPU");
  name = text;
  check(driver.cuDevicePrimaryCtxRetain(&context, device), "using the GPU");
  enter();
}

Session::~Session() { driver.cuDevicePrimaryCtxRelease_v2(device); }

static std::string mebibytes(size_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

DeviceMemory::DeviceMemory(const Session &session, size_t bytes, const std::string &purpose)
    : session(session) {
  if (bytes == 0)
    return;
  CUresult result = session.driver.cuMemAlloc_v2(&at, bytes);
  if (result != CUDA_ERROR_OUT_OF_MEMORY) {
    session.check(result, "allocating " + purpose);
    return;
  }
  size_t available = 0, total = 0;
  session.driver.cuMemGetInfo_v2(&available, &total);
  throw Failure(Exit::device, "not enough memory for " + purpose + ": " + mebibytes(bytes) +
                                  " are needed, " + session.name + " has " + mebibytes(available) +
                                  " free of " + mebibytes(total) +
                                  "; compile with a smaller batch or model");
}

DeviceMemory::~DeviceMemory() {
  if (at)
    session.driver.cuMemFree_v2(at);
}

PinnedMemory::PinnedMemory(const Session &session, size_t bytes) : session(session) {
  void *memory = nullptr;
  CUresult result = session.driver.cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_DEFAULT);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw Failure(Exit::device,
                  "not enough memory of the host for what is copied to and from the GPU: " +
                      mebibytes(bytes) +
                      " are needed that stay in place; free memory, or raise `ulimit -l`");
  session.check(result, "allocating memory of the host");
  data = static_cast<std::byte *>(memory);
}

PinnedMemory::~PinnedMemory() { session.driver.cuMemFreeHost(data); }

Stream::Stream(const Session &session) : session(session) {
  session.check(session.driver.cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING), "making a queue");
}

Stream::~Stream() { session.driver.cuStreamDestroy_v2(handle); }

Event::Event(const Session &session, bool timed) : session(session) {
  session.check(
      session.driver.cuEventCreate(&handle, timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
      "making an event");
}

Event::~Event() {
  if (handle)
    session.driver.cuEventDestroy_v2(handle);
}

} // namespace weir::cuda
