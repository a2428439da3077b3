//===- HostDevice.h - Devices in this process -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What devices share whose arena is memory of this process and whose actions the caller's thread
// carries out: they are synchronous, so every ticket is done. Pinned memory is memory behind the
// arena; what lies with the host is a store (HostStore.h), which stands for the memory of another.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_HOSTDEVICE_H
#define WEIR_RUNTIME_CORE_HOSTDEVICE_H

#include "artifact/Actions.h"
#include "runtime/core/HostStore.h"
#include "runtime/core/Walk.h"
#include <algorithm>
#include <cstring>

namespace weir {

/// A copy within the arena, or between it and what lies with the host.
class HostCopy : public Work {
public:
  HostCopy(std::byte *arena, Address hostBegin, HostStore *store, uint64_t size)
      : arena(arena), hostBegin(hostBegin), store(store), size(size) {}

  void bind(std::span<const Address> operands) override {
    from = operands[0];
    to = operands[1];
  }
  void run() override {
    if (from >= hostBegin)
      store->read(from - hostBegin, {arena + to, size});
    else if (to >= hostBegin)
      store->write(to - hostBegin, {arena + from, size});
    else
      std::memmove(arena + to, arena + from, size);
  }
  bool isTransfer() const { return from >= hostBegin || to >= hostBegin; }

private:
  std::byte *arena;
  Address hostBegin;
  HostStore *store;
  uint64_t size;
  Address from = 0, to = 0;
};

class HostDevice : public Device, public Workshop {
public:
  Ticket write(Address to, std::span<const std::byte> from) override {
    if (to >= hostBegin)
      store->write(to - hostBegin, from);
    else
      std::memcpy(arena + to, from.data(), from.size());
    return 0;
  }
  Ticket read(Address from, std::span<std::byte> to) override {
    size_t inside = from < hostBegin ? std::min<size_t>(to.size(), hostBegin - from) : 0;
    if (inside)
      std::memcpy(to.data(), arena + from, inside);
    if (inside < to.size())
      store->read(from + inside - hostBegin, to.subspan(inside));
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
  /// Makes every action ready, by make(). `memory` is the arena and pinned memory, `host` what lies
  /// with the host, null where nothing does; both outlive the device's runs.
  void prepare(const artifact::Program &program, std::byte *memory, HostStore *host, bool poison) {
    arena = memory;
    store = host;
    const artifact::Device &device = artifact::deviceOf(program);
    hostBegin = device.arena() + device.pinned();
    for (uint32_t i = 0; i < program.entries()->size(); ++i)
      walks.push_back(std::make_unique<Walk>(program, i, *this, poison));
  }

private:
  std::byte *arena = nullptr;
  Address hostBegin = 0; ///< of what lies in the store
  HostStore *store = nullptr;
  std::vector<std::unique_ptr<Walk>> walks; ///< as the program's entries
  Trace *traced = nullptr;
  Observer *observer = nullptr;
};

} // namespace weir

#endif
