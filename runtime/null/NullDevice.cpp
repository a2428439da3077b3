//===- NullDevice.cpp - A device without arithmetic -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/null/NullDevice.h"
#include "artifact/Actions.h"
#include "runtime/core/HostDevice.h"

namespace weir::null {
namespace {

class NoWork : public Work {
public:
  void bind(std::span<const Address>) override {}
  void run() override {}
};

class NullDevice : public HostDevice {
public:
  NullDevice(const artifact::Program &program, const DeviceOptions &options)
      : host(makeHostStore(artifact::deviceOf(program).host(), options.offloadFolder)),
        arena(artifact::deviceOf(program).arena() + artifact::deviceOf(program).pinned()) {
    prepare(program, arena.data(), host.get(), options.poison);
  }

  DeviceFacts facts() const override { return {.name = "no device", .computes = false}; }

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override {
    if (const artifact::Copy *copy = action.work_as_Copy())
      return std::make_unique<HostCopy>(arena.data(), arena.size(), host.get(), copy->size());
    bool isOrder = action.work_as_Record() || action.work_as_Wait();
    return isOrder ? nullptr : std::make_unique<NoWork>();
  }

  std::unique_ptr<HostStore> host;
  std::vector<std::byte> arena;
};

} // namespace

std::unique_ptr<Device> makeDevice(const artifact::Program &program, const DeviceOptions &options) {
  return std::make_unique<NullDevice>(program, options);
}

} // namespace weir::null
