//===- Block.h - Runs one block of a kernel, thread by thread -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads run until they wait for others; the order is drawn. Barriers and the operations of a warp
// are meetings: the last to arrive does the work for all. Whatever would make a GPU hang or do
// something undefined is a fault that ends the launch: meetings that some thread cannot reach,
// different ones that should be the same, lanes that are named but gone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_BLOCK_H
#define WEIR_TEST_EMULATED_CUDA_BLOCK_H

#include "runtime/cuda/Api.h"
#include <cstdint>
#include <string>

namespace weir::emulated {

constexpr unsigned warpLanes = 32;
constexpr unsigned maxThreads = 1024;

/// A kernel with its arguments and its grid.
struct Grid {
  std::string name;
  void (*call)(void **arguments) = nullptr;
  void **arguments = nullptr;
  unsigned blocks = 0, threads = 0;
  unsigned sharedBytes = 0; ///< of the dynamic array
};

/// Where in the grid the code runs; kernels read it as threadIdx and so on.
struct Place {
  struct {
    unsigned x, y, z;
  } thread, block, blockSize, gridSize;
};
extern "C" Place weirEmulatedPlace;

/// Runs one block to its end; false after a fault that ended it early.
bool runBlock(const Grid &grid, unsigned index);

/// From within a kernel: reports a fault of the running thread and ends the launch; does not
/// return.
[[noreturn]] void failThread(cuda::CUresult error, const std::string &what);

/// Copies of the block before that none waited for (AsyncCopies.cpp).
void forgetCopies(unsigned threads);

/// "row_6fd0e4b1, block 4, thread 17"
std::string whereInGrid();

/// What orders the running thread after others of its block. Each meeting is a tick of the block's
/// clock: an access of another thread came before if its tick is below `allTick`, or below
/// `warpTick` in the same warp, or below `laneTick` in one of `lanes` of the warp.
struct BlockClock {
  uint32_t now = 0, allTick = 0, warpTick = 0, laneTick = 0, lanes = 0;
};
extern BlockClock blockClock;

} // namespace weir::emulated

#endif
