//===- Works.h - What each kind of action does on a processor -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to runtime/cpu.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_WORKS_H
#define WEIR_RUNTIME_CPU_WORKS_H

#include "runtime/core/Group.h"
#include "runtime/core/Transport.h"
#include "runtime/cpu/Engine.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/spec/Exchange.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace weir::cpu {

/// What a compiled kernel is. `scratch` is the worker's own.
using KernelFunction = void (*)(void *const *operands, int64_t lo, int64_t hi, void *scratch);

/// What every action uses, owned by the device.
struct Machine {
  std::byte *arena = nullptr;
  std::byte *scratch = nullptr; ///< of worker 0; the others' follow at scratchStride
  size_t scratchStride = 0;
  ThreadPool *pool = nullptr;
  Group *group = nullptr; ///< is told how long the caller's thread waits for other ranks
  Address hostBegin = 0;  ///< of what lies with the host
  HostStore *host = nullptr;
  /// Of queues 1 and on, null where one has nothing to do; empty where all queues are the caller's
  /// thread: nothing lies with the host, and no collective is on another queue than 0.
  std::vector<std::unique_ptr<Engine>> engines = {};
  bool isWatched = false; ///< by an observer, while nothing else goes on

  /// Where and when an event of the entry that runs was recorded last.
  struct Reached {
    Engine *engine = nullptr; ///< null: by the caller's thread, or not yet
    Engine::Moment moment = 0;
  };
  std::vector<Reached> events = {};

  Engine *engineOf(uint32_t queue) const {
    return queue == 0 || engines.empty() ? nullptr : engines[queue - 1].get();
  }

  std::byte *workerScratch(int worker) const { return scratch + worker * scratchStride; }

  /// Does on the caller's thread what waits for other ranks.
  template <class Body> void await(Body body) const {
    auto since = std::chrono::steady_clock::now();
    body();
    if (group)
      group->addWaited(std::chrono::steady_clock::now() - since);
  }
};

// Work below these is done before another core has heard of it.
constexpr uint64_t inlineBytes = 16 << 10;
constexpr uint64_t inlineFlops = 32 << 10;

// Bytes of a copy that one task takes.
constexpr uint64_t blockBytes = 256 << 10;

class LaunchWork : public Work {
public:
  LaunchWork(Machine &machine, KernelFunction function, const artifact::Kernel &kernel)
      : machine(machine), function(function), tasks(kernel.tasks()),
        small(kernel.bytes() > 0 && kernel.bytes() < inlineBytes && kernel.flops() < inlineFlops),
        operands(kernel.operands()->size()) {}

  void bind(std::span<const Address> places) override {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = machine.arena + places[i];
  }

  void run() override {
    auto body = [this](int64_t lo, int64_t hi, int worker) {
      function(operands.data(), lo, hi, machine.workerScratch(worker));
    };
    if (small)
      body(0, tasks, 0);
    else
      machine.pool->parallelFor(tasks, body);
  }

private:
  Machine &machine;
  const KernelFunction function;
  const int64_t tasks;
  const bool small;
  std::vector<void *> operands;
};

/// A library call that `Made` computes: its Operands are pointers, in the order of the spec's
/// operands, the last ones null where they are absent. Its tasks are run in parallel, and so are
/// those that pack before them, and those of a sum behind them, where there are such.
template <class Made> class CallWork : public Work {
public:
  CallWork(Machine &machine, Made &made) : machine(machine), made(made) {}

  void bind(std::span<const Address> places) override {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = machine.arena + places[i];
  }

  void run() override {
    auto on = std::bit_cast<typename Made::Operands>(operands);
    if constexpr (requires { made.packTasks(); })
      if (int64_t tasks = made.packTasks())
        machine.pool->parallelFor(tasks,
                                  [&](int64_t lo, int64_t hi, int) { made.pack(lo, hi, on); });
    machine.pool->parallelFor(made.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      made.run(lo, hi, worker, on, machine.workerScratch(worker));
    });
    if constexpr (requires { made.sumTasks(); })
      machine.pool->parallelFor(made.sumTasks(),
                                [&](int64_t lo, int64_t hi, int) { made.sum(lo, hi, on); });
  }

private:
  Machine &machine;
  Made &made;
  std::array<void *, sizeof(typename Made::Operands) / sizeof(void *)> operands = {};
};

/// Rows of the other ranks. Where they go and come from is an operand's bytes, member by member.
class CollectiveWork : public Work {
public:
  /// `isBeside`: the caller's thread goes on meanwhile.
  CollectiveWork(Machine &machine, Transport &transport, unsigned axis, size_t member,
                 std::string what, spec::Exchange exchange, bool isBeside)
      : machine(machine), transport(transport), axis(axis), member(member), what(std::move(what)),
        isBeside(isBeside), exchange(std::move(exchange)), to(this->exchange.sizes.size()),
        from(to.size()) {}

  void bind(std::span<const Address> places) override {
    const std::byte *given = machine.arena + places[0];
    std::byte *got = machine.arena + places[1];
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = {given, exchange.given(member, i)};
      from[i] = {got, exchange.got(member, i)};
      given += exchange.givesEachItsOwn() ? to[i].size() : 0;
      got += from[i].size();
    }
  }
  void run() override {
    auto meet = [&] { transport.exchange(axis, what, to, from); };
    isBeside ? meet() : machine.await(meet);
  }

private:
  Machine &machine;
  Transport &transport;
  const unsigned axis;
  const size_t member; ///< this rank's number along it
  const std::string what;
  const bool isBeside;
  const spec::Exchange exchange;
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
};

/// An end of what one rank sends another.
class MessageWork : public Work {
public:
  MessageWork(Machine &machine, Transport &transport, unsigned axis, std::string what,
              const artifact::Transfer &transfer)
      : machine(machine), transport(transport), axis(axis), peer(transfer.peer()),
        tag{transfer.number(), transfer.round()}, what(std::move(what)),
        sends(transfer.kind() == artifact::TransferKind::send), size(transfer.size()) {}

  void bind(std::span<const Address> places) override { bytes = {machine.arena + places[0], size}; }
  void run() override {
    if (sends)
      transport.send(axis, peer, tag, what, bytes);
    else
      machine.await([&] { transport.receive(axis, peer, tag, what, bytes); });
  }

private:
  Machine &machine;
  Transport &transport;
  const unsigned axis, peer;
  const Transport::Tag tag;
  const std::string what;
  const bool sends;
  const size_t size;
  std::span<std::byte> bytes;
};

/// An event happens when its queue has come so far.
class RecordWork : public Work {
public:
  RecordWork(Machine &machine, uint32_t queue, uint32_t event)
      : machine(machine), engine(machine.engineOf(queue)), event(event) {}

  void bind(std::span<const Address>) override {}
  void run() override { machine.events[event] = {engine, engine ? engine->now() : 0}; }

private:
  Machine &machine;
  Engine *const engine;
  const uint32_t event;
};

class WaitWork : public Work {
public:
  WaitWork(Machine &machine, uint32_t queue, uint32_t event)
      : machine(machine), engine(machine.engineOf(queue)), event(event) {}

  void bind(std::span<const Address>) override {}
  void run() override {
    auto [other, moment] = machine.events[event];
    if (!other || other == engine)
      return; // what this thread asked for before, or the engine was given, comes before
    if (engine)
      engine->follow(*other, moment);
    else
      machine.await([&] { other->wait(moment); });
  }

private:
  Machine &machine;
  Engine *const engine;
  const uint32_t event;
};

/// What an engine does: it alone uses the work, and the caller's thread says where operands lie.
class EngineWork : public Work {
public:
  EngineWork(Engine &engine, std::unique_ptr<Work> work) : engine(engine), work(std::move(work)) {}

  void bind(std::span<const Address> operands) override {
    std::ranges::copy(operands, places.begin());
    count = operands.size();
  }
  void run() override { engine.give(*work, std::span(places).first(count)); }

private:
  Engine &engine;
  std::unique_ptr<Work> work;
  std::array<Address, Engine::mostOperands> places = {};
  size_t count = 0;
};

/// Work of another kind on an engine's queue is done by the caller's thread, when the engine has
/// come so far.
class DrainedWork : public Work {
public:
  DrainedWork(Engine &engine, std::unique_ptr<Work> work) : engine(engine), work(std::move(work)) {}

  void bind(std::span<const Address> places) override { work->bind(places); }
  void run() override {
    engine.wait(engine.now());
    work->run();
  }

private:
  Engine &engine;
  std::unique_ptr<Work> work;
};

class CopyWork : public Work {
public:
  CopyWork(Machine &machine, uint64_t size) : machine(machine), size(size) {}

  void bind(std::span<const Address> places) override {
    source = machine.arena + places[0];
    target = machine.arena + places[1];
  }

  void run() override {
    if (source < target + size && target < source + size) {
      std::memmove(target, source, size);
      return;
    }
    int64_t tasks = (size - 1) / blockBytes + 1;
    machine.pool->parallelFor(tasks, [&](int64_t lo, int64_t hi, int) {
      uint64_t begin = lo * blockBytes, end = std::min<uint64_t>(size, hi * blockBytes);
      std::memcpy(target + begin, source + begin, end - begin);
    });
  }

private:
  Machine &machine;
  const uint64_t size;
  const std::byte *source = nullptr;
  std::byte *target = nullptr;
};

/// A copy of a program of which something lies with the host. What is from there or to there is
/// done by the engine of its queue, if it has one.
class TransferWork : public Work {
public:
  TransferWork(Machine &machine, uint32_t queue, uint64_t size)
      : machine(machine), engine(machine.engineOf(queue)),
        transfer(machine.arena, machine.hostBegin, machine.host, size), ofEngine(transfer),
        within(machine, size) {}

  void bind(std::span<const Address> operands) override {
    std::ranges::copy(operands, places.begin());
    transfer.bind(operands);
    if (!transfer.isTransfer())
      within.bind(operands);
  }

  void run() override {
    if (engine && transfer.isTransfer()) {
      engine->give(ofEngine, places);
      if (machine.isWatched)
        engine->wait(engine->now());
      return;
    }
    if (engine)
      engine->wait(engine->now());
    if (transfer.isTransfer())
      transfer.run();
    else
      within.run();
  }

private:
  Machine &machine;
  Engine *const engine;
  std::array<Address, Engine::mostOperands> places = {};
  HostCopy transfer;
  HostCopy ofEngine; ///< the same, which the engine alone uses
  CopyWork within;
};

} // namespace weir::cpu

#endif
