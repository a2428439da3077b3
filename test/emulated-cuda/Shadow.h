//===- Shadow.h - Who last touched each two bytes, and whether any may --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In check mode every access of a kernel comes here, and every range that a copy, a fill or a
// product touches. A cell stands for two bytes and holds two stamps: the last to write and the last
// to read. A stamp names a block of a launch (by a serial number), a thread, and the tick of the
// block's clock. Two accesses of which one writes must be ordered: by the block's barriers within
// a block, by the order of nodes (Clocks.h) between launches, and by nothing within one launch.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_SHADOW_H
#define WEIR_TEST_EMULATED_CUDA_SHADOW_H

#include "runtime/cuda/Api.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::emulated {

constexpr unsigned sharedLimit = 227 << 10;

enum class Access { read, write, atomic };

/// Something that runs begins: `count` serial numbers are its blocks'. `unordered` are the ranges
/// of serial numbers of what ran before with nothing to order it before this.
struct SerialRange {
  uint32_t first = 0, count = 0;
};
SerialRange shadowBegin(const std::string &name, uint32_t count, std::vector<SerialRange> unordered,
                        int device);

/// Block `index` of it begins, with fresh shared memory.
void shadowBlock(unsigned index, unsigned sharedBytes);
/// A thread of the block goes on; also to be called when the block's clock has moved.
void shadowThread(unsigned thread);

/// The range is as after an allocation: never written.
void shadowForget(uint64_t address, size_t bytes);
/// The state "written or not" moves with the bytes; each range counts as touched.
void shadowCopy(uint64_t to, uint64_t from, size_t bytes);
/// Whether reading what was never written is a fault.
enum class Unwritten { fault, allowedInPart, allowed };
/// A range touched by what is no kernel; elsewhere than in the device's memory it is not looked at.
void shadowRange(uint64_t address, size_t bytes, Access access,
                 Unwritten unwrittenIs = Unwritten::fault);

/// Of the running thread, before it happens; `aligned` wants the address to be a multiple of bytes.
void shadowAccess(uint64_t address, size_t bytes, Access access, bool aligned);

/// Of the running thread's shared memory: as if never written, and the thread the last to write.
void shadowUnwrite(uint64_t address, size_t bytes);

/// A kernel's image and its static shared arrays: where else it may read, and what else is shared.
struct ImageRanges {
  uint64_t begin = 0, end = 0, sharedBegin = 0, sharedEnd = 0;
};
void shadowImage(const ImageRanges &ranges);

/// Faults of what runs now; those beyond the first few are only counted.
unsigned shadowFaults();

/// Distinct 32-byte sectors of the device's memory since shadowBegin, where a report is wanted.
struct Sectors {
  uint64_t read = 0, written = 0;
};
Sectors shadowSectors();

void resetShadow();

} // namespace weir::emulated

#endif
