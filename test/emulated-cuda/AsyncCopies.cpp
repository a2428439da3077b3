//===- AsyncCopies.cpp - Copies that are there when they are waited for --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cp.async writes at some time between its issue and the wait for its group. Here it writes at
// both: at its issue, what makes the place one that was never written (NaN where nothing is
// checked), and at the wait, the bytes. So whoever reads early is told, and so is whoever has read
// what lay there before with no barrier in between.
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Block.h"
#include "test/emulated-cuda/Shadow.h"
#include <cstring>
#include <vector>

#define WEIR_EMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace weir::emulated {
extern "C" uint8_t weirEmulatedShared[];
namespace {

constexpr size_t copyBytes = 16;

struct Copy {
  void *to;
  const void *from; ///< null for zeros
  unsigned group;
};

/// Of one thread, by age.
struct Copies {
  std::vector<Copy> pending;
  unsigned groups = 0; ///< that were committed
};
Copies copies[maxThreads];

uint64_t addressOf(const void *p) { return reinterpret_cast<uint64_t>(p); }

Copies &mine() { return copies[weirEmulatedPlace.thread.x]; }

} // namespace

void forgetCopies(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    copies[i].pending.clear();
    copies[i].groups = 0;
  }
}

WEIR_EMULATED_EXPORT void weirEmulatedMisaligned(const void *p, unsigned bytes);

WEIR_EMULATED_EXPORT void weirEmulatedCopyAsync(void *shared, const void *from, int isThere) {
  if (addressOf(shared) % copyBytes)
    weirEmulatedMisaligned(shared, copyBytes);
  if (addressOf(from) % copyBytes)
    weirEmulatedMisaligned(from, copyBytes);
  if (addressOf(shared) - addressOf(weirEmulatedShared) >= sharedLimit)
    failThread(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
               "copies to elsewhere than the dynamic shared memory");
  shadowAccess(addressOf(shared), copyBytes, Access::write, true);
  shadowUnwrite(addressOf(shared), copyBytes);
  std::memset(shared, 0xff, copyBytes);
  mine().pending.push_back({shared, isThere ? from : nullptr, mine().groups});
}

WEIR_EMULATED_EXPORT void weirEmulatedCommitCopies() { ++mine().groups; }

WEIR_EMULATED_EXPORT void weirEmulatedWaitForCopies(int pending) {
  Copies &all = mine();
  size_t done = 0;
  for (; done < all.pending.size(); ++done) {
    const Copy &copy = all.pending[done];
    if (copy.group + unsigned(pending) >= all.groups)
      break;
    if (copy.from)
      shadowAccess(addressOf(copy.from), copyBytes, Access::read, true);
    shadowAccess(addressOf(copy.to), copyBytes, Access::write, true);
    if (copy.from)
      std::memcpy(copy.to, copy.from, copyBytes);
    else
      std::memset(copy.to, 0, copyBytes);
  }
  all.pending.erase(all.pending.begin(), all.pending.begin() + ptrdiff_t(done));
}

} // namespace weir::emulated
