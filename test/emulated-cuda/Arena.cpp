//===- Arena.cpp - The emulated device's memory -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Arena.h"
#include "test/emulated-cuda/Options.h"
#include "test/emulated-cuda/Shadow.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace weir::emulated {

Arena &arena() {
  static Arena arena;
  return arena;
}

void *reserveMemory(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void clearMemory(void *memory, size_t bytes) {
  constexpr uintptr_t page = 4096;
  auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + bytes;
  uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first >= last) {
    std::memset(memory, 0, bytes);
    return;
  }
  std::memset(memory, 0, first - begin);
  madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  std::memset(reinterpret_cast<void *>(last), 0, end - last);
}

bool Arena::reserve() {
  if (base)
    return true;
  void *memory = reserveMemory(bytes), *marks = reserveMemory(bytes / granule * sizeof *valid),
       *owners = reserveMemory(bytes / granule);
  if (!memory || !marks || !owners)
    return false;
  owner = static_cast<uint8_t *>(owners);
  base = reinterpret_cast<uint64_t>(memory);
  valid = static_cast<uint16_t *>(marks);
  return true;
}

uint64_t Arena::allocate(size_t size, int device) {
  if (!reserve() || size > bytes)
    return 0;
  size_t wanted = (size + granule - 1) / granule * granule;
  uint64_t at = granule; // a pointer before the first is a fault, too
  for (auto [offset, length] : allocations) {
    if (offset >= at + wanted + granule)
      break;
    at = offset + (length + granule - 1) / granule * granule + granule;
  }
  if (at + wanted + granule > bytes)
    return 0;
  allocations[at] = size;
  for (size_t done = 0; done < size; done += granule) {
    valid[(at + done) / granule] = uint16_t(std::min(granule, size - done));
    owner[(at + done) / granule] = uint8_t(device);
  }
  if (options().checked) {
    shadowForget(base + at, wanted);
    std::memset(reinterpret_cast<void *>(base + at), 0xff, size);
  }
  return base + at;
}

bool Arena::release(uint64_t address) {
  auto found = allocations.find(address - base);
  if (found == allocations.end())
    return false;
  auto [offset, size] = *found;
  size_t rounded = (size + granule - 1) / granule * granule;
  std::memset(valid + offset / granule, 0, rounded / granule * sizeof *valid);
  clearMemory(reinterpret_cast<void *>(address), rounded);
  shadowForget(address, rounded);
  allocations.erase(found);
  return true;
}

void Arena::releaseAll() {
  while (!allocations.empty())
    release(base + allocations.begin()->first);
}

size_t Arena::used(int device) const {
  size_t all = 0;
  for (auto [offset, size] : allocations)
    all += owner[offset / granule] == device ? size : 0;
  return all;
}

bool Arena::isAllocated(uint64_t address, size_t size, int device) const {
  uint64_t offset = address - base;
  if (!base || offset >= bytes)
    return false;
  auto next = allocations.upper_bound(offset);
  if (next == allocations.begin())
    return false;
  auto [begin, length] = *--next;
  return size <= length && offset - begin <= length - size && owner[begin / granule] == device;
}

std::string Arena::describe(uint64_t address) const {
  char text[160];
  uint64_t offset = address - base;
  auto next = allocations.upper_bound(offset);
  if (!contains(address) || next == allocations.begin()) {
    std::snprintf(text, sizeof text, "%#llx, which is no memory of the device",
                  static_cast<unsigned long long>(address));
    return text;
  }
  auto [begin, length] = *--next;
  std::snprintf(text, sizeof text, "+%llu of the allocation of %zu bytes at %#llx%s%s",
                static_cast<unsigned long long>(offset - begin), length,
                static_cast<unsigned long long>(base + begin),
                owner[begin / granule] ? " on device " : "",
                owner[begin / granule] ? std::to_string(owner[begin / granule]).c_str() : "");
  return text;
}

} // namespace weir::emulated
