//===- Stamp.h - Who touched two bytes, and when, in 64 bits ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_STAMP_H
#define WEIR_TEST_EMULATED_CUDA_STAMP_H

#include <cstdint>

namespace weir::emulated {

/// From the top: serial number of the block (32 bits, 0 for nobody), thread (10), tick of the
/// block's clock (19), and 3 bits that mean one thing for writers and another for readers.
class Stamp {
public:
  Stamp() = default;
  Stamp(uint32_t serial, unsigned thread, uint32_t tick)
      : bits(uint64_t(serial) << 32 | uint64_t(thread & 1023) << 22 |
             uint64_t(tick & 0x7ffff) << 3) {}

  uint32_t serial() const { return uint32_t(bits >> 32); }
  unsigned thread() const { return unsigned(bits >> 22) & 1023; }
  uint32_t tick() const { return uint32_t(bits >> 3) & 0x7ffff; }

  /// A writer's: which of the two bytes were ever written, by it or by those before it.
  enum : unsigned { first = 1, second = 2, both = 3 };
  unsigned written() const { return unsigned(bits) & 3; }
  bool isAtomic() const { return bits & 4; }
  Stamp wrote(unsigned bytes, bool atomic) const {
    Stamp next = *this;
    next.bits = (bits & ~uint64_t(7)) | bytes | (atomic ? 4 : 0);
    return next;
  }

  /// A reader's: who else read since something ordered them: lanes of its warp, threads of other
  /// warps, other blocks of the launch. The stamp is that of the last of them.
  enum Crowd : unsigned { one, lanes, warps, blocks };
  Crowd crowd() const { return Crowd(unsigned(bits) & 3); }
  void setCrowd(Crowd crowd) { bits = (bits & ~uint64_t(7)) | crowd; }

private:
  uint64_t bits = 0;
};

} // namespace weir::emulated

#endif
