//===- Works.h - Actions as calls of the driver -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CUDA_WORKS_H
#define WEIR_RUNTIME_CUDA_WORKS_H

#include "runtime/core/Walk.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/Ranges.h"
#include "runtime/cuda/Session.h"
#include <optional>

namespace weir::cuda {

/// What actions use: the device's, in each run.
struct Machine {
  const Session &session;
  const std::vector<std::unique_ptr<Stream>> &queues;
  CUdeviceptr arena = 0;
  Address arenaEnd = 0;
  Address hostBegin = 0;           ///< what lies between is pinned memory
  std::byte *host = nullptr;       ///< of what lies there
  std::byte *pinned = nullptr;     ///< of the run that is being asked for
  std::vector<Event> events = {};  ///< of the entry's records
  std::vector<bool> recorded = {}; ///< those that are, in this run
  bool waits = false;              ///< for each action, to tell which of them fails

  std::byte *onHost(Address place) const {
    return place < hostBegin ? pinned + (place - arenaEnd) : host + (place - hostBegin);
  }
};

/// An action on its queue.
class QueuedWork : public Work {
public:
  QueuedWork(Machine &machine, uint32_t queue, std::string what)
      : machine(machine), stream(machine.queues[queue]->handle), what(std::move(what)) {}

  /// Throws Failure{Exit::model} for an operand in pinned memory, which only copies may have.
  void bind(std::span<const Address> operands) override;
  void run() override {
    Range range(what);
    enqueue();
    if (machine.waits)
      check(driver().cuStreamSynchronize(stream));
  }

protected:
  virtual void enqueue() = 0;
  const Driver &driver() const { return machine.session.driver; }
  void check(CUresult result) const {
    if (result != CUDA_SUCCESS)
      machine.session.check(result, what);
  }
  /// An operand, which does not lie in pinned memory.
  CUdeviceptr at(size_t operand) const { return machine.arena + places[operand]; }

  Machine &machine;
  const CUstream stream;
  const std::string what;
  std::vector<Address> places;
};

class LaunchWork final : public QueuedWork {
public:
  LaunchWork(Machine &machine, uint32_t queue, std::string what, CUfunction function,
             const artifact::Kernel &kernel);

private:
  void bind(std::span<const Address> operands) override;
  void enqueue() override;

  const CUfunction function;
  const artifact::Kernel &kernel;
  std::vector<CUdeviceptr> pointers;
  std::vector<void *> arguments;
};

class ProductWork final : public QueuedWork {
public:
  ProductWork(Machine &machine, uint32_t queue, std::string what, const spec::Product &spec,
              const Product &product, CUdeviceptr workspace)
      : QueuedWork(machine, queue, std::move(what)), spec(spec), product(product),
        workspace(workspace) {}

private:
  void enqueue() override;

  const spec::Product spec;
  const Product &product;
  const CUdeviceptr workspace;
};

/// Within the arena, or between it and pinned memory.
class CopyWork final : public QueuedWork {
public:
  CopyWork(Machine &machine, uint32_t queue, std::string what, uint64_t size)
      : QueuedWork(machine, queue, std::move(what)), size(size) {}

private:
  void bind(std::span<const Address> operands) override;
  void enqueue() override;
  void within(CUdeviceptr to, CUdeviceptr from);
  bool overlaps() const {
    return places[0] < places[1] + size && places[1] < places[0] + size && places[0] != places[1];
  }

  const uint64_t size;
  std::optional<DeviceMemory> between; ///< of ranges that overlap
};

class RecordWork final : public QueuedWork {
public:
  RecordWork(Machine &machine, uint32_t queue, std::string what, uint32_t event)
      : QueuedWork(machine, queue, std::move(what)), event(event) {}

private:
  void enqueue() override {
    check(driver().cuEventRecord(machine.events[event].handle, stream));
    machine.recorded[event] = true;
  }
  const uint32_t event;
};

class WaitWork final : public QueuedWork {
public:
  WaitWork(Machine &machine, uint32_t queue, std::string what, uint32_t event)
      : QueuedWork(machine, queue, std::move(what)), event(event) {}

private:
  void enqueue() override {
    if (machine.recorded[event])
      check(driver().cuStreamWaitEvent(stream, machine.events[event].handle, 0));
  }
  const uint32_t event;
};

} // namespace weir::cuda

#endif
