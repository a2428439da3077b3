//===- Session.h - The driver's state of one device -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_SESSION_H
#define WEIR_RUNTIME_CUDA_SESSION_H

#include "runtime/cuda/Libraries.h"
#include <cstddef>
#include <string>
#include <utility>

namespace weir::cuda {

/// A context of a device, current on the thread that made it.
class Session {
public:
  /// `number`: which of the devices that the driver shows. With `mayBeOnly` it may be shown one
  /// alone, whatever the number: launchers give processes one each. Throws Failure{Exit::device}.
  explicit Session(const std::string &folder, int64_t number = 0, bool mayBeOnly = false);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  void check(CUresult result, const std::string &doing) const {
    cuda::check(driver, result, doing);
  }
  /// Makes the context the calling thread's.
  void enter() const { check(driver.cuCtxSetCurrent(context), "using the GPU"); }

  const Driver &driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  int architecture = 0;  ///< 90 of compute capability 9.0
  int driverVersion = 0; ///< 13 of CUDA 13.1
  std::string name;
};

/// Memory of the device.
class DeviceMemory {
public:
  /// Throws Failure{Exit::device} that says how much is needed and how much there is.
  DeviceMemory(const Session &session, size_t bytes, const std::string &purpose);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  CUdeviceptr at = 0;

private:
  const Session &session;
};

/// Memory of the host that the device copies from and to by itself.
class PinnedMemory {
public:
  PinnedMemory(const Session &session, size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;

  std::byte *data = nullptr;

private:
  const Session &session;
};

class Stream {
public:
  explicit Stream(const Session &session);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  CUstream handle = nullptr;

private:
  const Session &session;
};

/// A moment of a stream.
class Event {
public:
  /// `timed`: the time between it and others may be asked for.
  Event(const Session &session, bool timed);
  ~Event();
  Event(Event &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)), session(other.session) {}
  Event &operator=(Event &&) = delete;

  CUevent handle = nullptr;

private:
  const Session &session;
};

} // namespace weir::cuda

#endif
