//===- HostDevice.h - Tensors of a test's own memory ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CORE_HOSTDEVICE_H
#define WEIR_TEST_RUNTIME_CORE_HOSTDEVICE_H

#include "runtime/core/Device.h"
#include <cstring>

namespace weir {

/// Its addresses are pointers, and it runs nothing.
class HostDevice : public Device {
public:
  static Address addressOf(const void *data) { return reinterpret_cast<Address>(data); }

  DeviceFacts facts() const override { return {}; }
  Ticket write(Address to, std::span<const std::byte> from) override {
    std::memcpy(reinterpret_cast<void *>(to), from.data(), from.size());
    return 0;
  }
  Ticket read(Address from, std::span<std::byte> to) override {
    std::memcpy(to.data(), reinterpret_cast<const void *>(from), to.size());
    return 0;
  }
  Ticket run(uint32_t) override { return 0; }
  void wait(Ticket) override {}
  void trace(Trace *) override {}
  void observe(Observer *) override {}
};

} // namespace weir

#endif
