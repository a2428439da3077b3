//===- ReplayDevice.cpp - A device whose actions take what they are said to -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/bench/replay/ReplayDevice.h"
#include "artifact/Sharding.h"
#include "runtime/core/HostDevice.h"
#include "runtime/cpu/Works.h"
#include <map>

namespace weir::replay {
namespace {

void sleepUntil(int64_t time) {
  timespec until{time / 1'000'000'000, time % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr))
    ;
}

/// Of a thread: that it wakes late from one action's sleep is taken off the next one's.
class Clock {
public:
  void spend(double seconds) {
    constexpr int64_t late = 500'000;
    int64_t now = Trace::now();
    until = (now - until < late ? until : now) + int64_t(1e9 * seconds);
    sleepUntil(until);
  }
  void goOn() { until = Trace::now(); }

private:
  int64_t until = 0;
};

class Sleep : public Work {
public:
  Sleep(Clock &clock, double seconds) : clock(clock), seconds(seconds) {}
  void bind(std::span<const Address>) override {}
  void run() override { clock.spend(seconds); }

private:
  Clock &clock;
  const double seconds;
};

class Meeting : public Work {
public:
  Meeting(Clock &clock, Transport &transport, unsigned axis, size_t members, std::string what,
          double seconds)
      : clock(clock), transport(transport), axis(axis), what(std::move(what)), to(members),
        from(members), seconds(seconds) {}
  void bind(std::span<const Address>) override {}
  void run() override {
    transport.exchange(axis, what, to, from);
    clock.goOn();
    clock.spend(seconds);
  }

private:
  Clock &clock;
  Transport &transport;
  const unsigned axis;
  const std::string what;
  const std::vector<std::span<const std::byte>> to; ///< nothing
  const std::vector<std::span<std::byte>> from;
  const double seconds;
};

/// When the link to each rank is free.
using Free = std::map<std::pair<unsigned, unsigned>, int64_t>;

/// The message is when it will have come.
class Message : public Work {
public:
  Message(Clock &clock, Transport &transport, Free &free, unsigned axis, std::string what,
          const artifact::Transfer &transfer, double seconds)
      : clock(clock), transport(transport), free(free), axis(axis), peer(transfer.peer()),
        tag{transfer.number(), transfer.round()}, what(std::move(what)),
        sends(transfer.kind() == artifact::TransferKind::send), seconds(seconds) {}
  void bind(std::span<const Address>) override {}
  void run() override {
    int64_t comes = 0;
    std::span bytes(reinterpret_cast<std::byte *>(&comes), sizeof comes);
    if (sends) {
      int64_t &link = free[{axis, peer}];
      comes = link = std::max(link, Trace::now()) + int64_t(1e9 * seconds);
      transport.send(axis, peer, tag, what, bytes);
      return;
    }
    transport.receive(axis, peer, tag, what, bytes);
    sleepUntil(std::max(comes, Trace::now()));
    clock.goOn();
  }

private:
  Clock &clock;
  Transport &transport;
  Free &free;
  const unsigned axis, peer;
  const Transport::Tag tag;
  const std::string what;
  const bool sends;
  const double seconds;
};

class ReplayDevice : public HostDevice {
public:
  ReplayDevice(const artifact::Program &program, const DeviceOptions &options, const Pace &pace)
      : program(program), transport(options.transport), pace(pace),
        host(makeHostStore(artifact::deviceOf(program).host(), "")),
        arena(artifact::deviceOf(program).arena() + artifact::deviceOf(program).pinned()) {
    uint32_t queues = artifact::deviceOf(program).queues(), events = 0;
    for (const artifact::Entry *entry : *program.entries()) {
      events = std::max(events, entry->events());
      if (entry->name()->string_view() != "step")
        continue;
      uint32_t number = 0;
      for (const artifact::Action *action : artifact::actionsOf(*entry))
        seconds[action] = pace.seconds[number++];
    }
    clocks.resize(std::max(queues, 1U));
    for (uint32_t queue = 1; queue < queues; ++queue)
      machine.engines.push_back(std::make_unique<cpu::Engine>(1 << 16));
    machine.events.resize(events);
    prepare(program, arena.data(), host.get(), false);
  }
  ~ReplayDevice() override {
    for (const auto &engine : machine.engines)
      engine->drain();
  }

  DeviceFacts facts() const override { return {.name = "what was measured", .computes = false}; }

private:
  std::unique_ptr<Work> make(const artifact::Action &action) override {
    uint32_t queue = action.queue();
    if (const artifact::Record *record = action.work_as_Record())
      return std::make_unique<cpu::RecordWork>(machine, queue, record->event());
    if (const artifact::Wait *wait = action.work_as_Wait())
      return std::make_unique<cpu::WaitWork>(machine, queue, wait->event());
    if (action.work_as_Loop())
      return nullptr;
    Clock &clock = clocks[queue];
    cpu::Engine *engine = machine.engineOf(queue);
    if (const artifact::Collective *collective = action.work_as_Collective()) {
      uint64_t others = collective->bytes()->size() - 1;
      auto meeting = std::make_unique<Meeting>(clock, *transport, axisOf(*collective->axis()),
                                               others + 1, artifact::describeAt(program, action),
                                               carried(artifact::receivedIn(*collective), others));
      if (!engine)
        return meeting;
      return std::make_unique<cpu::EngineWork>(*engine, std::move(meeting));
    }
    if (const artifact::Transfer *transfer = action.work_as_Transfer())
      return std::make_unique<Message>(clock, *transport, free, axisOf(*transfer->axis()),
                                       artifact::describeAt(program, action), *transfer,
                                       carried(transfer->size(), 1));
    auto found = seconds.find(&action);
    double own = found == seconds.end() ? 0 : found->second;
    return std::make_unique<Sleep>(clocks[0], pace.scale * own);
  }

  unsigned axisOf(const flatbuffers::String &name) const {
    return unsigned(artifact::meshOf(program).find(name.string_view()));
  }

  /// From one to the next, so often.
  double carried(uint64_t bytes, uint64_t times) const {
    return pace.scale * (double(times) * pace.links.latency + double(bytes) / pace.links.bandwidth);
  }

  const artifact::Program &program;
  Transport *const transport;
  const Pace pace;
  std::unique_ptr<HostStore> host;
  std::vector<std::byte> arena;
  std::map<const artifact::Action *, double> seconds;
  std::vector<Clock> clocks; ///< of queues
  Free free;
  cpu::Machine machine;
};

} // namespace

std::unique_ptr<Device> makeReplayDevice(const artifact::Program &program,
                                         const DeviceOptions &options, const Pace &pace) {
  return std::make_unique<ReplayDevice>(program, options, pace);
}

} // namespace weir::replay
