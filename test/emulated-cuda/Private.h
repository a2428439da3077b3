//===- Private.h - What the stand-ins and their tests ask of the emulated driver beyond CUDA --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_PRIVATE_H
#define WEIR_TEST_EMULATED_CUDA_PRIVATE_H

#include "runtime/cuda/Api.h"

namespace weir::cuda {

/// `count` ranges of `bytes`, at multiples of `stride` from `address`.
struct WeirEmulatedRange {
  CUdeviceptr address;
  uint64_t bytes, count, stride;
  int isWrite;
};

extern "C" {

/// Adds a node that touches the ranges and then calls `run` with a copy of the data, each time it
/// runs: a captured one, with every launch of the graph. Returns a CUresult.
__attribute__((visibility("default"))) int
weirEmulatedEnqueue(CUstream stream, const char *name, void (*run)(const void *), const void *data,
                    size_t bytes, const WeirEmulatedRange *ranges, size_t count);

/// What devices do together, of which each has its own: it comes, which is done by a node that
/// reads ranges, and once `isOpen` it leaves, by another that writes them. All are called while
/// nodes run.
struct WeirEmulatedMeeting {
  void (*come)(void *object);
  int (*isOpen)(void *object);
  void (*leave)(void *object);
};

/// Adds the two nodes; in a graph, to each launch. `object` outlives them. Returns a CUresult.
__attribute__((visibility("default"))) int
weirEmulatedMeet(CUstream stream, const char *name, const WeirEmulatedMeeting *meeting,
                 void *object, const WeirEmulatedRange *ranges, size_t count);

/// When the node is that runs now, and whether it comes after one that ran before.
struct WeirEmulatedMoment {
  uint32_t chain, tick;
};
__attribute__((visibility("default"))) void weirEmulatedNow(WeirEmulatedMoment *moment);
__attribute__((visibility("default"))) int weirEmulatedIsAfter(WeirEmulatedMoment moment);

/// A fault of the node that runs now.
__attribute__((visibility("default"))) void weirEmulatedReport(const char *what);

/// Whether the range is one of the current device's memory, allocated as a whole.
__attribute__((visibility("default"))) int weirEmulatedIsAllocated(CUdeviceptr address,
                                                                   size_t bytes);

/// All as in a new process: every handle and all memory are gone, no error is sticky. The context
/// stays retained and current.
__attribute__((visibility("default"))) void weirEmulatedReset(int checked, uint64_t seed);

/// Every line reported since the reset; valid until the next call of the driver.
__attribute__((visibility("default"))) const char *weirEmulatedFaults();

void weirEmulatedForget();
}

} // namespace weir::cuda

#endif
