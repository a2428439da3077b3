//===- Collectives.cpp - What a GPU's program has of other ranks ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Collectives.h"
#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include "support/Error.h"
#include <atomic>
#include <bit>
#include <cstddef>
#include <set>

namespace weir::cuda {

namespace {

/// Every collective of a program.
std::vector<const artifact::Collective *> collectivesOf(const artifact::Program &program) {
  std::vector<const artifact::Collective *> list;
  for (const artifact::Entry *entry : *program.entries())
    for (const artifact::Action *action : artifact::actionsOf(*entry))
      if (const artifact::Collective *one = action->work_as_Collective())
        list.push_back(one);
  return list;
}

} // namespace

class CollectiveWork final : public QueuedWork {
public:
  CollectiveWork(Machine &machine, uint32_t queue, std::string what, Collectives &all,
                 unsigned axis, uint32_t number, const artifact::Collective &collective)
      : QueuedWork(machine, queue, std::move(what)), axis(all.axes.at(axis)),
        progress(all.progress.data + axis * sizeof(Collectives::Progress)),
        numbers(all.numbers.at + number * sizeof(Collectives::Numbers)),
        exchange(artifact::exchangeOf(collective)) {}

private:
  void tell(CUdeviceptr from) {
    check(driver().cuMemcpyDtoHAsync_v2(progress, from, sizeof(Collectives::Progress), stream));
  }
  void enqueue() override {
    tell(numbers + offsetof(Collectives::Numbers, begin));
    axis.communicator.enqueue(exchange, at(0), at(1), what, stream);
    tell(numbers + offsetof(Collectives::Numbers, end));
  }

  Collectives::Axis &axis;
  std::byte *const progress;
  const CUdeviceptr numbers;
  const spec::Exchange exchange;
};

Collectives::Collectives(const Session &session, const std::string &folder,
                         const artifact::Program &program, const DeviceOptions &options)
    : transport(*options.transport), mesh(artifact::meshOf(program)),
      numbers(session, (collectivesOf(program).size() + 1) * sizeof(Numbers), "collectives"),
      progress(session, mesh.axes.size() * sizeof(Progress)) {
  std::fill_n(progress.data, mesh.axes.size() * sizeof(Progress), std::byte(0));
  std::vector<const artifact::Collective *> all = collectivesOf(program);
  std::vector<Numbers> values;
  for (uint32_t i = 0; i <= all.size(); ++i)
    values.push_back({{i, 0}, {i, i}});
  Stream stream(session);
  session.check(session.driver.cuMemcpyHtoDAsync_v2(numbers.at, values.data(),
                                                    values.size() * sizeof(Numbers), stream.handle),
                "copying to the GPU");
  session.check(session.driver.cuStreamSynchronize(stream.handle), "copying to the GPU");
  std::set<unsigned> used;
  for (const artifact::Collective *one : all)
    used.insert(unsigned(mesh.find(one->axis()->string_view())));
  for (unsigned axis : used)
    axes.try_emplace(axis, openNccl(folder),
                     Member{.transport = transport,
                            .axis = axis,
                            .axisName = mesh.axes[axis].name,
                            .rank = options.rank,
                            .number = mesh.coordinate(options.rank, axis),
                            .count = mesh.axes[axis].size});
}

std::unique_ptr<Work> Collectives::make(Machine &machine, uint32_t queue, std::string what,
                                        const artifact::Collective &collective) {
  auto axis = unsigned(mesh.find(collective.axis()->string_view()));
  made.push_back(what);
  return std::make_unique<CollectiveWork>(machine, queue, std::move(what), *this, axis,
                                          uint32_t(made.size() - 1), collective);
}

void Collectives::check() {
  Clock::time_point now = Clock::now(), since = now;
  const std::string *what = nullptr;
  for (auto &[number, axis] : axes) {
    // The GPU writes both words at once.
    auto &words = *reinterpret_cast<uint64_t *>(progress.data + number * sizeof(Progress));
    auto seen = std::bit_cast<Progress>(std::atomic_ref(words).load(std::memory_order_relaxed));
    if (seen.begun != axis.seen.begun || seen.ended != axis.seen.ended) {
      axis.seen = seen;
      axis.since = now;
    }
    if (seen.begun != seen.ended && seen.begun < made.size() && axis.since <= since) {
      what = &made[seen.begun];
      since = axis.since;
    }
  }
  try {
    for (auto &[number, axis] : axes)
      axis.communicator.check(what ? *what : "the kernels of a step");
    if (now - asked < std::chrono::milliseconds(1))
      return;
    asked = now;
    transport.check(what ? *what : "the kernels of a step", since);
  } catch (...) {
    abort();
    throw;
  }
}

void Collectives::abort() {
  for (auto &[number, axis] : axes)
    axis.communicator.abort();
}

void Collectives::close() {
  for (auto &[number, axis] : axes)
    axis.communicator.close();
}

} // namespace weir::cuda
