//===- Device.cpp - What runs programs ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Device.h"
#include <algorithm>
#include <vector>

namespace weir {

void Device::readOwned(Address address, uint64_t size, const Bytes &visit) {
  std::vector<std::byte> staged(std::min<uint64_t>(size, mostStaged));
  for (uint64_t from = 0; from < size; from += staged.size()) {
    std::span<std::byte> some(staged.data(), std::min<uint64_t>(staged.size(), size - from));
    wait(read(address + from, some));
    visit(from, some);
  }
}

} // namespace weir
