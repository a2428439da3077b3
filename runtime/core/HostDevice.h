//===- HostDevice.h - Devices in this process -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What devices share whose arena is memory of this process and whose actions the caller's thread
// carries out: they are synchronous, so every ticket is done. Pinned memory is memory behind the
// arena.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_HOSTDEVICE_H
#define WEIR_RUNTIME_CORE_HOSTDEVICE_H

#include "runtime/core/Walk.h"
#include <cstring>

namespace weir {

class HostDevice : public Device, public Workshop {
public:
  Ticket write(Address to, std::span<const std::byte> from) override {
    std::memcpy(arena + to, from.data(), from.size());
    return 0;
  }
  Ticket read(Address from, std::span<std::byte> to) override {
    std::memcpy(to.data(), arena + from, to.size());
    return 0;
  }
  Ticket run(uint32_t entry) override {
    walks[entry]->run(traced, observer);
    return 0;
  }
  void wait(Ticket) override {}
  void trace(Trace *to) override { traced = to; }
  void observe(Observer *by) override { observer = by; }

  void setRound(uint32_t, Address at, int32_t round) override {
    std::memcpy(arena + at, &round, sizeof round);
  }
  void poison(uint32_t, Address from, uint64_t bytes) override {
    std::memset(arena + from, 0xff, bytes);
  }
  int64_t mark(uint32_t) override { return Trace::now(); }
  void record(Trace &trace, const ActionPlace &place, int64_t begin, int64_t end) override {
    trace.record({place.entry, place.action, place.round, begin, end});
  }

protected:
  /// Makes every action ready, by make(). `memory` is that of artifact::memoryOf, and outlives the
  /// device's runs.
  void prepare(const artifact::Program &program, std::byte *memory, bool poison) {
    arena = memory;
    for (uint32_t i = 0; i < program.entries()->size(); ++i)
      walks.push_back(std::make_unique<Walk>(program, i, *this, poison));
  }

private:
  std::byte *arena = nullptr;
  std::vector<std::unique_ptr<Walk>> walks; ///< as the program's entries
  Trace *traced = nullptr;
  Observer *observer = nullptr;
};

} // namespace weir

#endif
