//===- MeshDevice.cpp - The ranks of a mesh as one device ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/MeshDevice.h"
#include "artifact/Actions.h"
#include "artifact/Reader.h"
#include "artifact/Sharding.h"
#include "runtime/base/MachineMemory.h"
#include "runtime/base/Thread.h"
#include "runtime/collectives/LocalRanks.h"
#include "runtime/collectives/Processes.h"
#include "runtime/core/Group.h"
#include "runtime/core/WholeTensors.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/mesh/RankPlacement.h"
#include "support/precision/Element.h"
#include "support/program/Names.h"
#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

namespace weir {
namespace {

/// One of all ranks' variables or ports.
struct WholeTensor {
  Layout layout;
  size_t elementSize;
  std::vector<Address> places; ///< of each rank's part; of the ranks that are here
  std::vector<int64_t> owners; ///< ranks that have all of it together, each part once
};

constexpr size_t recentActions = 100;

/// A line each, the oldest first, with the seconds from each to the last one's end.
std::string lastActions(const Trace &trace, const artifact::Program &program) {
  std::vector<Trace::Event> events = trace.events();
  std::ranges::stable_sort(events, {}, &Trace::Event::end); // those of other queues come last
  std::string lines;
  for (const Trace::Event &event : events) {
    const artifact::Entry &entry = *program.entries()->Get(event.entry);
    std::vector<const artifact::Action *> actions = artifact::actionsOf(entry);
    lines += concat(1e-9 * double(event.start - events.back().end), " s, for ",
                    1e-9 * double(event.end - event.start), " s: ", entry.name()->string_view(),
                    " ", event.action, " round ", event.round, ": ",
                    artifact::describeAt(program, *actions[event.action]), "\n");
  }
  return lines;
}

class MeshDevice : public Device {
public:
  MeshDevice(const artifact::Program &program, const DeviceOptions &options, const MakeDevice &make,
             bool isHosts)
      : mesh(artifact::meshOf(program)), hosts(artifact::hostsOf(program)), group(options.group),
        here(group ? hostedBy(hosts, mesh, group->rank()) : hostedBy({}, mesh, 0)),
        isHosts(isHosts), ofFirst(artifact::programOf(program, here[0])), devices(here.size()) {
    assert(!group || group->size() == hosts.ranks());
    if (!isHosts && hosts.ranks() != mesh.ranks())
      throw Failure(Exit::usage,
                    concat("the program has ", mesh.ranks(), " ranks (", mesh.text(), ") on ",
                           hosts.ranks(), hosts.ranks() == 1 ? " device" : " devices",
                           ", but each GPU runs one rank: compile it without --deterministic"));
    if (!group)
      local.emplace(mesh, std::chrono::seconds(options.patience));
    else if (hosts != mesh) // more than one each, or numbered in another order
      local.emplace(mesh, hosts, *group);
    else
      remote.emplace(*group, mesh);
    requireMemory(program, options);
    try {
      left = here.size();
      for (size_t i = 0; i < here.size(); ++i) {
        DeviceOptions own = optionsOf(i, program, options);
        threads.push_back(startThread([this, i, &program, own, &make] {
          attempt(i, [&] {
            // GPUs meet while they are made; processors share what is set up once.
            std::unique_lock lock(making, std::defer_lock);
            if (this->isHosts)
              lock.lock();
            devices[i] = make(artifact::programOf(program, here[i]), own);
          });
          drive(i);
        }));
      }
      join();
      findTensors(program);
      setBegins(program);
    } catch (...) {
      if (local)
        local->end();
      stop();
      throw;
    }
    if (group && isHosts) {
      // Of several ranks, the first is as far as the others but for an exchange.
      devices[0]->trace(&recent);
      group->recordWith([this] { return lastActions(recent, ofFirst); });
    }
  }

  ~MeshDevice() override { stop(); }

  DeviceFacts facts() const override {
    DeviceFacts facts = devices[0]->facts();
    std::string ranks = concat(mesh.ranks(), " ranks (", mesh.text(), ")");
    if (group)
      ranks = concat(group->size(), " processes (", hosts.text(), ")",
                     here.size() > 1 ? " with " + ranks : "");
    facts.name = concat(ranks, " of ", facts.name);
    facts.ahead = 0;
    facts.hostMemory = 0;
    for (const auto &device : devices)
      facts.hostMemory += device->facts().hostMemory;
    facts.hostMemory *= group ? uint64_t(group->neighbours()) : 1;
    return facts;
  }

  Ticket write(Address to, std::span<const std::byte> from) override {
    const WholeTensor &tensor = at(to);
    for (size_t i = 0; i < here.size(); ++i)
      forEachPart(tensor, here[i], to, from.size(), [&](const Part &part) {
        devices[i]->wait(
            devices[i]->write(tensor.places[i] + part.own, from.subspan(part.whole, part.size)));
      });
    return 0;
  }

  Ticket read(Address from, std::span<std::byte> to) override {
    const WholeTensor &tensor = at(from);
    if (group && (tensor.layout.isCut() || tensor.layout.only)) {
      gather(tensor, from, to);
      return 0;
    }
    // What is cut nowhere the first rank that is here has as well as its owner.
    for (size_t i = 0; i < here.size(); ++i)
      if (group ? i == 0 : std::ranges::count(tensor.owners, here[i]) > 0)
        forEachPart(tensor, here[i], from, to.size(), [&](const Part &part) {
          devices[i]->wait(
              devices[i]->read(tensor.places[i] + part.own, to.subspan(part.whole, part.size)));
        });
    return 0;
  }

  void forEachOwned(Address address, uint64_t size, const Range &visit) const override {
    if (!group)
      return Device::forEachOwned(address, size, visit);
    for (size_t i = 0; i < here.size(); ++i)
      forEachOwnedPart(i, address, size, [&](const Part &part) { visit(part.whole, part.size); });
  }

  /// What a rank owns of a tensor lies together on its device: blocks of it are read, and the parts
  /// in a block visited.
  void readOwned(Address address, uint64_t size, const Bytes &visit) override {
    if (!group)
      return Device::readOwned(address, size, visit);
    for (size_t i = 0; i < here.size(); ++i) {
      uint64_t end = 0, first = 0; // of all; of the block
      forEachOwnedPart(i, address, size, [&](const Part &part) { end = part.own + part.size; });
      std::vector<std::byte> block;
      forEachOwnedPart(i, address, size, [&](const Part &part) {
        for (uint64_t done = 0; done < part.size;) {
          uint64_t own = part.own + done;
          if (own >= first + block.size()) {
            first = own;
            block.resize(std::min<uint64_t>(mostStaged, end - own));
            devices[i]->wait(devices[i]->read(at(address).places[i] + own, block));
          }
          uint64_t count = std::min(part.size - done, first + block.size() - own);
          visit(part.whole + done, std::span(block).subspan(own - first, count));
          done += count;
        }
      });
    }
  }

  void forEachKept(Address address, uint64_t size, const Range &visit) const override {
    if (!group)
      return Device::forEachKept(address, size, visit);
    for (int64_t rank : here)
      forEachPart(at(address), rank, address, size,
                  [&](const Part &part) { visit(part.whole, part.size); });
  }

  void readShares(Address address, uint64_t, const Shares &visit) override {
    const WholeTensor &tensor = at(address);
    std::vector<std::byte> block;
    for (size_t i = 0; i < here.size(); ++i) {
      uint64_t size = tensor.elementSize;
      for (int64_t dimension : tensor.layout.shape(mesh, here[i]))
        size *= uint64_t(dimension);
      for (uint64_t done = 0; done < size; done += block.size()) {
        block.resize(std::min<uint64_t>(mostStaged, size - done));
        devices[i]->wait(devices[i]->read(tensor.places[i] + done, block));
        visit(here[i], block);
      }
    }
  }

  Ticket run(uint32_t entry) override {
    if (local)
      local->begin();
    {
      std::lock_guard lock(mutex);
      asked = entry;
      left = devices.size();
      through = 0;
      failure = nullptr;
      ++runs;
      changed.notify_all();
    }
    join();
    return 0;
  }

  void wait(Ticket) override {}
  void trace(Trace *trace) override {
    // What is in a graph on one of them has to be so on all.
    if (trace && !isHosts && mesh.ranks() > 1)
      throw Failure(
          Exit::usage,
          concat("--trace and --profile time the actions of a GPU one by one, but the ",
                 mesh.ranks(), " GPUs of --mesh ", mesh.text(),
                 " run theirs together: give these options to a program compiled without --mesh"));
    devices[0]->trace(trace || !group || !isHosts ? trace : &recent);
  }
  void observe(Observer *observer) override {
    if (observer)
      throw Failure(
          Exit::usage,
          concat(
              "Weir observes what actions read and write on one device only, but this program has ",
              mesh.ranks(), " ranks: compile it without --mesh and --deterministic"));
  }

private:
  /// What a rank has of some bytes of a tensor.
  struct Part {
    uint64_t whole; ///< the first, of those bytes
    uint64_t own;   ///< and of the rank's share
    uint64_t size;
  };

  /// What the ranks of this machine take together: a process that uses more than there is is ended
  /// without a word.
  void requireMemory(const artifact::Program &program, const DeviceOptions &options) const {
    uint64_t all = 0, there = machineMemory();
    for (int64_t rank : here) {
      const artifact::Device &device = artifact::deviceOf(artifact::programOf(program, rank));
      all += (isHosts ? device.arena() : 0) + device.pinned() +
             (options.offloadFolder.empty() ? device.host() : 0);
    }
    uint64_t ranks = here.size();
    if (group) {
      all *= uint64_t(group->neighbours());
      ranks *= uint64_t(group->neighbours());
    }
    if (there && all > there)
      throw Failure(Exit::device,
                    concat("not enough memory for the tensors of the ", ranks,
                           " ranks on this machine: ", all,
                           " bytes are needed, but the machine has ", there,
                           hosts == mesh ? "; compile with a --memory SIZE, which is per rank, or "
                                         : "; compile without --deterministic, or ",
                           "run ranks on more machines"));
  }

  DeviceOptions optionsOf(size_t i, const artifact::Program &program,
                          const DeviceOptions &options) {
    DeviceOptions own = options;
    own.threads = threadsOf(options);
    own.transport = remote ? &*remote : &local->of(here[i]);
    own.rank = here[i];
    own.group = here.size() == 1 ? group : nullptr; // of several, none knows what all wait for
    own.number = group ? group->numberOnMachine() : int64_t(i);
    // Some ranks may have room for what others have not.
    bool offloads =
        artifact::deviceOf(artifact::programOf(program, here[i])).host() || !anyOffloads(program);
    own.offloadFolder = offloads ? options.offloadFolder : "";
    return own;
  }

  /// Of each rank's device.
  int threadsOf(const DeviceOptions &options) const {
    int together = options.threads;
    if (together <= 0)
      together = cpu::availableCores() / (group ? int(group->neighbours()) : 1);
    return std::max<int>(1, together / int(here.size()));
  }

  /// Reads bytes of a tensor of which each process has a share.
  void gather(const WholeTensor &tensor, Address address, std::span<std::byte> to) {
    std::vector<int64_t> all(static_cast<size_t>(group->size()));
    std::iota(all.begin(), all.end(), 0);
    // What a process has of it, its owners' parts one after the other.
    std::vector<std::vector<std::byte>> shares(all.size());
    for (int64_t rank : tensor.owners)
      forEachPart(tensor, rank, address, to.size(), [&](const Part &part) {
        std::vector<std::byte> &share = shares[size_t(hostOf(hosts, mesh, rank))];
        share.resize(share.size() + part.size);
      });
    std::vector<std::byte> &own = shares[size_t(group->rank())];
    uint64_t filled = 0;
    for (size_t i = 0; i < here.size(); ++i)
      if (std::ranges::count(tensor.owners, here[i]))
        forEachPart(tensor, here[i], address, to.size(), [&](const Part &part) {
          devices[i]->wait(devices[i]->read(tensor.places[i] + part.own,
                                            std::span(own).subspan(filled, part.size)));
          filled += part.size;
        });
    std::vector<std::span<const std::byte>> given(all.size(), own);
    std::vector<std::span<std::byte>> got(shares.begin(), shares.end());
    group->exchange(Group::hostLane, all, "the gather of shards", given, got);
    std::vector<uint64_t> taken(all.size());
    for (int64_t rank : tensor.owners)
      forEachPart(tensor, rank, address, to.size(), [&](const Part &part) {
        size_t process = size_t(hostOf(hosts, mesh, rank));
        std::memcpy(to.data() + part.whole, shares[process].data() + taken[process], part.size);
        taken[process] += part.size;
      });
  }

  static bool anyOffloads(const artifact::Program &program) {
    bool any = artifact::deviceOf(program).host();
    if (program.others())
      for (const artifact::Program *other : *program.others())
        any |= artifact::deviceOf(*other).host() > 0;
    return any;
  }

  void stop() {
    if (group)
      group->recordWith(nullptr);
    {
      std::lock_guard lock(mutex);
      stopping = true;
      changed.notify_all();
    }
    for (std::thread &thread : threads)
      thread.join();
  }

  void findTensors(const artifact::Program &program) {
    std::vector<std::vector<Address>> places(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      const artifact::Program &own = artifact::programOf(program, here[i]);
      forEachWholeTensor(own, [&](const auto &tensor, const artifact::Entry *entry) {
        if constexpr (requires { tensor.ref(); })
          places[i].push_back(artifact::addressOf(own, *entry, *tensor.ref()));
        else
          places[i].push_back(artifact::addressOf(own, tensor));
      });
    }
    forEachWholeTensor(program, [&](const auto &tensor, const artifact::Entry *) {
      WholeTensor whole{
          artifact::layoutOf(mesh, tensor), sizeOf(artifact::elementOf(tensor.dtype())), {}, {}};
      for (size_t i = 0; i < devices.size(); ++i)
        whole.places.push_back(places[i][tensors.size()]);
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        bool isFirst = true;
        for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
          isFirst &= whole.layout.isCutOver(axis) ||
                     mesh.coordinate(rank, axis) == onlyCoordinate(whole.layout, axis);
        if (isFirst)
          whole.owners.push_back(rank);
      }
      tensors.push_back(std::move(whole));
    });
  }

  /// Where a rank's shares begin, which its program reads as numbers of the run.
  void setBegins(const artifact::Program &program) {
    uint64_t number = 0;
    for (const artifact::Variable *variable : *program.variables()) {
      std::optional<Piece> piece;
      if (variable->role() == artifact::Role::run)
        piece = pieceOfBegin(variable->name()->string_view(), mesh);
      for (size_t i = 0; piece && i < here.size(); ++i) {
        auto begin = static_cast<int32_t>(piece->share(mesh, here[i]).begin);
        Device &device = *devices[i];
        device.wait(device.write(tensors[number].places[i], std::as_bytes(std::span(&begin, 1))));
      }
      ++number;
    }
  }

  /// Of what is on one stage, its; of others the first.
  static int64_t onlyCoordinate(const Layout &layout, unsigned axis) {
    return layout.only && layout.only->axis == axis ? layout.only->coordinate : 0;
  }

  const WholeTensor &at(Address address) const { return tensors[address >> wholeTensorBits]; }

  /// Calls `visit` for what a rank has of bytes of a tensor.
  template <class Visit>
  void forEachPart(const WholeTensor &tensor, int64_t rank, Address address, uint64_t size,
                   Visit visit) const {
    uint64_t first = address & ((uint64_t(1) << wholeTensorBits) - 1), end = first + size;
    forEachRun(tensor.layout, mesh, rank, [&](int64_t whole, int64_t own, int64_t count) {
      uint64_t begin = std::max(first, whole * tensor.elementSize),
               last = std::min(end, (whole + count) * tensor.elementSize);
      if (begin < last)
        visit(Part{begin - first, own * tensor.elementSize + (begin - whole * tensor.elementSize),
                   last - begin});
    });
  }

  /// Calls `visit` for what a rank that is here has to save of bytes of a tensor, in the order in
  /// which it has them. Ranks that have the same share save an equal part of it each.
  template <class Visit>
  void forEachOwnedPart(size_t number, Address address, uint64_t size, Visit visit) const {
    const WholeTensor &tensor = at(address);
    int64_t rank = here[number], same = 1, place = 0, elements = 1;
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (!tensor.layout.isCutOver(axis) &&
          !(tensor.layout.only && tensor.layout.only->axis == axis)) {
        same *= mesh.axes[axis].size;
        place = place * mesh.axes[axis].size + mesh.coordinate(rank, axis);
      }
    for (int64_t dimension : tensor.layout.shape(mesh, rank))
      elements *= dimension;
    uint64_t begin = uint64_t(firstOfPart(elements, place, same)) * tensor.elementSize,
             end = uint64_t(firstOfPart(elements, place + 1, same)) * tensor.elementSize;
    forEachPart(tensor, rank, address, size, [&](const Part &part) {
      uint64_t first = std::max(part.own, begin), last = std::min(part.own + part.size, end);
      if (first < last)
        visit(Part{part.whole + first - part.own, first, last - first});
    });
  }

  /// A rank's thread: runs what is asked for, and ends with the rank's device.
  void drive(size_t number) {
    uint64_t done = 0;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopping || runs != done; });
      if (stopping)
        break;
      done = runs;
      uint32_t entry = asked;
      lock.unlock();
      attempt(number, [&] {
        Device &device = *devices[number];
        device.wait(device.run(entry));
        if (local)
          local->finish(here[number]);
        if (group && ++through == here.size())
          group->finishSending();
      });
      lock.lock();
    }
    lock.unlock();
    devices[number].reset();
  }

  /// On a rank's thread: its part of what all of them do, which join() waits for.
  template <class Body> void attempt(size_t number, Body body) {
    std::exception_ptr failed;
    try {
      body();
    } catch (const Failure &why) {
      // Which of several GPUs it was has to be said.
      failed = isHosts || group || std::string_view(why.what()).starts_with("rank ")
                   ? std::current_exception()
                   : std::make_exception_ptr(
                         Failure(why.exit, concat("rank ", here[number], ": ", why.what())));
    } catch (...) {
      failed = std::current_exception();
    }
    std::lock_guard lock(mutex);
    // What the others throw then is that this rank has ended.
    if (failed && !failure) {
      failure = failed;
      if (local)
        local->end();
      else
        group->end(); // what is under way beside
    }
    if (--left == 0)
      changed.notify_all();
  }

  /// Throws what the first rank that failed has thrown.
  void join() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return left == 0; });
    if (failure)
      std::rethrow_exception(failure);
  }

  const Mesh mesh, hosts;
  Group *const group;                                  ///< null: all ranks are here
  const std::vector<int64_t> here;                     ///< ranks
  std::optional<collectives::LocalRanks> local;        ///< or
  std::optional<collectives::ProcessTransport> remote; ///< where each process is a rank
  const bool isHosts;                                  ///< the devices' memory
  std::vector<WholeTensor> tensors;
  const artifact::Program &ofFirst;             ///< what the first rank that is here runs
  std::vector<std::unique_ptr<Device>> devices; ///< as `here`; each is made and ended by its thread
  Trace recent = Trace(recentActions, {});      ///< of it, where it is a process

  std::mutex making, mutex;
  std::condition_variable changed;
  bool stopping = false;
  uint64_t runs = 0;               ///< that were asked for
  uint32_t asked = 0;              ///< the entry of the last one
  size_t left = 0;                 ///< ranks that still run it
  std::atomic<size_t> through = 0; ///< that have run it, and sent all that they send
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

} // namespace

std::unique_ptr<Device> makeMeshDevice(const artifact::Program &program,
                                       const DeviceOptions &options, const MakeDevice &make,
                                       bool isHosts) {
  return std::make_unique<MeshDevice>(program, options, make, isHosts);
}

} // namespace weir
