//===- Launch.cpp - A launch of a kernel, checked and kept until it runs --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Launch.h"
#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include <cstdio>
#include <cstring>
#include <numeric>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace weir::emulated {
namespace {

/// The arguments' bytes, each at a multiple of 16.
class Arguments {
public:
  Arguments(const KernelEntry &entry, void **given) {
    size_t bytes = 0;
    for (unsigned i = 0; i < entry.argumentCount; ++i) {
      offsets.push_back(bytes);
      bytes += (entry.sizes[i] + 15) / 16 * 16;
    }
    storage = std::make_unique<Unit[]>(bytes / 16 + 1);
    for (unsigned i = 0; i < entry.argumentCount; ++i)
      std::memcpy(place(i), given[i], entry.sizes[i]);
  }
  std::vector<void *> pointers() const {
    std::vector<void *> list;
    for (unsigned i = 0; i < offsets.size(); ++i)
      list.push_back(place(i));
    return list;
  }

private:
  struct alignas(16) Unit {
    char bytes[16];
  };
  void *place(unsigned i) const { return storage[0].bytes + offsets[i]; }

  std::vector<size_t> offsets;
  std::unique_ptr<Unit[]> storage;
};

/// Subnormal numbers are zero while one of these lives, if wanted.
class FlushToZero {
public:
#ifdef __x86_64__
  explicit FlushToZero(bool wanted) : before(_mm_getcsr()) {
    if (wanted)
      _mm_setcsr(before | 0x8040);
  }
  ~FlushToZero() { _mm_setcsr(before); }

private:
  unsigned before;
#else
  explicit FlushToZero(bool) {}
#endif
};

void appendReport(const std::string &name) {
  Sectors sectors = shadowSectors();
  appendToReport(name + " " + std::to_string(sectors.read) + " " + std::to_string(sectors.written));
}

/// The blocks in an order that is drawn: from a random one on, in steps that meet all of them.
void runBlocks(const Grid &grid) {
  uint32_t first = 0, step = 1;
  if (!options().isForward() && grid.blocks > 1) {
    first = random().below(grid.blocks);
    do
      step = 1 + random().below(grid.blocks);
    while (std::gcd(step, grid.blocks) != 1);
  }
  uint64_t block = first;
  for (uint32_t done = 0; done < grid.blocks; ++done, block = (block + step) % grid.blocks)
    if (!runBlock(grid, unsigned(block)))
      return;
}

cuda::CUresult refuse(const std::string &name, const std::string &why) {
  note(name + ": " + why);
  return cuda::CUDA_ERROR_INVALID_VALUE;
}

} // namespace

cuda::CUresult prepareLaunch(const Function &function, const LaunchRequest &request,
                             std::shared_ptr<const Work> &work) {
  const KernelEntry &entry = *function.entry;
  auto number = [](unsigned value) { return std::to_string(value); };
  for (int i = 0; i < 3; ++i)
    if (!request.grid[i] || !request.block[i])
      return refuse(entry.name, "launched with a size of zero");
  if (request.grid[1] != 1 || request.grid[2] != 1 || request.block[1] != 1 ||
      request.block[2] != 1)
    return refuse(entry.name, "the emulation knows grids and blocks of one dimension only");
  if (request.block[0] > maxThreads || request.grid[0] > 0x7fffffff)
    return refuse(entry.name, "launched with blocks of " + number(request.block[0]) + " threads");
  if (entry.maxThreads && request.block[0] > entry.maxThreads)
    return refuse(entry.name, "launched with " + number(request.block[0]) +
                                  " threads, but its __launch_bounds__ are " +
                                  number(entry.maxThreads));
  unsigned fixed = function.module->staticShared();
  if (request.sharedBytes + fixed > std::max(48u << 10, function.dynamicSharedLimit + fixed))
    return refuse(entry.name, "launched with " + number(request.sharedBytes) +
                                  " bytes of shared memory, more than it may use");
  if (request.sharedBytes + fixed > sharedLimit)
    return refuse(entry.name, "launched with " + number(request.sharedBytes + fixed) +
                                  " bytes of shared memory, more than there are");
  for (unsigned i = 0; i < entry.argumentCount; ++i)
    if (!request.arguments || !request.arguments[i])
      return refuse(entry.name, "launched without an argument " + number(i));

  auto arguments = std::make_shared<Arguments>(entry, request.arguments);
  auto prepared = std::make_shared<Work>();
  prepared->name = entry.name;
  prepared->blocks = request.grid[0];
  prepared->run = [arguments, module = function.module->shared_from_this(), &function,
                   blocks = request.grid[0], threads = request.block[0],
                   sharedBytes = request.sharedBytes] {
    std::vector<void *> pointers = arguments->pointers();
    const KernelTable &table = *module->table;
    Grid grid{function.entry->name, function.entry->call, pointers.data(), blocks, threads,
              sharedBytes};
    FlushToZero flush(table.flushesToZero);
    shadowImage(module->ranges);
    runBlocks(grid);
    if (!options().report.empty())
      appendReport(grid.name);
  };
  work = std::move(prepared);
  return cuda::CUDA_SUCCESS;
}

} // namespace weir::emulated
