//===- Arena.h - The emulated device's memory ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of the devices are addresses of this process, in one range that is reserved at once and
// backed as it is touched; what is allocated is one device's. Between allocations lies a gap, so
// that what runs off an end lands in no other.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_ARENA_H
#define WEIR_TEST_EMULATED_CUDA_ARENA_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace weir::emulated {

class Arena {
public:
  static constexpr size_t bytes = size_t(16) << 30;

  /// Zero if no gap is large enough. In check mode the memory holds NaN of every width.
  uint64_t allocate(size_t size, int device);
  /// False if `address` is not the beginning of an allocation.
  bool release(uint64_t address);
  void releaseAll();

  size_t used(int device) const;
  bool contains(uint64_t address) const { return address - base < bytes; }
  /// Whether all of [address, address + size) lies in one allocation, of that device.
  bool isAllocated(uint64_t address, size_t size, int device) const;
  /// "+1024 of an allocation of 4096 bytes", "0x10, which is not memory of the device", ...
  std::string describe(uint64_t address) const;

  uint64_t base = 0;
  /// Of each granule, how many of its bytes are allocated, from its beginning.
  uint16_t *valid = nullptr;
  /// And the device.
  uint8_t *owner = nullptr;
  static constexpr size_t granule = 512;

private:
  bool reserve();

  std::map<uint64_t, size_t> allocations; ///< by their offset
};

Arena &arena();

/// Zeroed memory that takes no room before it is touched; nullptr where there is none.
void *reserveMemory(size_t bytes);
/// Zero again, and taking no room, as far as whole pages go.
void clearMemory(void *memory, size_t bytes);

} // namespace weir::emulated

#endif
