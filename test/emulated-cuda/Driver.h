//===- Driver.h - What the exported functions of the driver share -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_DRIVER_H
#define WEIR_TEST_EMULATED_CUDA_DRIVER_H

#include "runtime/cuda/Api.h"
#include "test/emulated-cuda/Capture.h"
#include "test/emulated-cuda/Module.h"
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#define WEIR_EMULATED_EXPORT __attribute__((visibility("default")))

namespace weir::cuda {
extern "C" {
#define WEIR_EMULATED_DECLARE(type, name, arguments) WEIR_EMULATED_EXPORT type name arguments;
WEIR_CUDA_DRIVER(WEIR_EMULATED_DECLARE)
#undef WEIR_EMULATED_DECLARE
}
} // namespace weir::cuda

namespace weir::emulated {

/// One call of the driver at a time: the emulation has one state, and kernels, of all devices, run
/// on the thread that waits for something.
std::unique_lock<std::mutex> enterDriver();
/// Lets other threads have their calls for so long, in the middle of one.
void leaveDriver(std::chrono::microseconds time);

/// How many devices there are: WEIR_EMULATED_DEVICES, 8 without it.
constexpr int mostDevices = 16;
int deviceCount();

/// Why a call cannot be served: not initialised, no current context, or a sticky error.
cuda::CUresult refuseCall();

/// Objects by the handles that callers hold, which are their addresses.
template <typename Object, typename Handle> class Handles {
public:
  Handle add(std::shared_ptr<Object> object) {
    auto handle = reinterpret_cast<Handle>(object.get());
    objects[handle] = std::move(object);
    return handle;
  }
  /// nullptr if there is none, or none any more.
  Object *find(Handle handle) const {
    auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second.get();
  }
  /// Its owner from now on is the caller; null if there is none.
  std::shared_ptr<Object> take(Handle handle) {
    auto found = objects.find(handle);
    if (found == objects.end())
      return nullptr;
    auto object = std::move(found->second);
    objects.erase(found);
    return object;
  }
  void clear() { objects.clear(); }

private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects;
};

struct DriverState {
  bool isInitialized = false;
  int contextUses[mostDevices] = {}; ///< by device
  Handles<Stream, cuda::CUstream> streams;
  Handles<Event, cuda::CUevent> events;
  Handles<Graph, cuda::CUgraph> graphs;
  Handles<GraphExecutable, cuda::CUgraphExec> executables;
  Handles<Module, cuda::CUmodule> modules;       ///< each of the device that was current
  std::unordered_map<void *, size_t> hostMemory; ///< what cuMemHostAlloc gave

  /// The current device's stream of a handle, the legacy stream for zero; nullptr if there is none.
  Stream *stream(cuda::CUstream handle) {
    Stream *found = handle ? streams.find(handle) : &legacyStream();
    return found && found->device == currentDevice() ? found : nullptr;
  }
};
DriverState &driver();

/// At a launch: whether the current device is lost, as a test may have planted it.
bool isLost();

/// A stream that is asked for work: `name` for what it is called in reports.
cuda::CUresult submitWork(cuda::CUstream stream, std::string name, std::function<void()> run);

} // namespace weir::emulated

/// The beginning of most exported functions.
#define WEIR_EMULATED_ENTER                                                                        \
  auto entered = weir::emulated::enterDriver();                                                    \
  if (weir::cuda::CUresult refused = weir::emulated::refuseCall())                                 \
    return refused;

#endif
