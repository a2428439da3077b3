//===- NullDevice.cpp - A device without arithmetic -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/null/NullDevice.h"
#include "runtime/artifact/Actions.h"
#include "runtime/core/Walk.h"
#include <cstring>

namespace weir::null {
namespace {

/// Knows where its operands lie, and touches none.
class NoWork : public Work {
public:
  explicit NoWork(size_t operands) : places(operands) {}
  void bind(std::span<const Address> operands) override {
    std::copy(operands.begin(), operands.end(), places.begin());
  }
  void run() override {}

private:
  std::vector<Address> places;
};

class CopyWork : public Work {
public:
  CopyWork(std::byte *arena, uint64_t size) : arena(arena), size(size) {}
  void bind(std::span<const Address> operands) override {
    from = operands[0];
    to = operands[1];
  }
  void run() override { std::memmove(arena + to, arena + from, size); }

private:
  std::byte *arena;
  const uint64_t size;
  Address from = 0, to = 0;
};

class NullDevice : public Device, public Workshop {
public:
  NullDevice(const artifact::Program &program, const DeviceOptions &options)
      : arena(artifact::deviceOf(program).arena()) {
    for (uint32_t i = 0; i < program.entries()->size(); ++i)
      walks.push_back(std::make_unique<Walk>(program, i, *this, options.poison));
  }

  DeviceFacts facts() const override { return {}; }
  Ticket write(Address to, std::span<const std::byte> from) override {
    std::memcpy(arena.data() + to, from.data(), from.size());
    return 0;
  }
  Ticket read(Address from, std::span<std::byte> to) override {
    std::memcpy(to.data(), arena.data() + from, to.size());
    return 0;
  }
  Ticket run(uint32_t entry) override {
    walks[entry]->run(traced, observer);
    return 0;
  }
  void wait(Ticket) override {}
  void trace(Trace *to) override { traced = to; }
  void observe(Observer *by) override { observer = by; }

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override {
    if (const artifact::Copy *copy = action.work_as_Copy())
      return std::make_unique<CopyWork>(arena.data(), copy->size());
    return std::make_unique<NoWork>(action.operands() ? action.operands()->size() : 0);
  }
  void setRound(Address at, int32_t round) override {
    std::memcpy(arena.data() + at, &round, sizeof round);
  }
  void poison(Address from, uint64_t bytes) override {
    std::memset(arena.data() + from, 0xff, bytes);
  }

  std::vector<std::byte> arena;
  std::vector<std::unique_ptr<Walk>> walks; ///< as the program's entries
  Trace *traced = nullptr;
  Observer *observer = nullptr;
};

} // namespace

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return std::make_unique<NullDevice>(program, options);
}

} // namespace weir::null
