//===- MeshDevice.cpp - The ranks of a mesh as one device ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/MeshDevice.h"
#include "runtime/artifact/Actions.h"
#include "runtime/artifact/Reader.h"
#include "runtime/artifact/Sharding.h"
#include "runtime/base/Element.h"
#include "runtime/base/Error.h"
#include "runtime/base/Hosts.h"
#include "runtime/base/MachineMemory.h"
#include "runtime/base/Names.h"
#include "runtime/base/Text.h"
#include "runtime/base/Thread.h"
#include "runtime/collectives/LocalRanks.h"
#include "runtime/collectives/Processes.h"
#include "runtime/core/Group.h"
#include "runtime/core/WholeTensors.h"
#include "runtime/cpu/ThreadPool.h"
#include <algorithm>
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
  MeshDevice(const artifact::Program &program, const DeviceOptions &options, const MakeDevice &make)
      : mesh(artifact::meshOf(program)), hosts(artifact::hostsOf(program)), group(options.group),
        here(group ? hostedBy(hosts, mesh, group->rank()) : hostedBy({}, mesh, 0)),
        ofFirst(artifact::programOf(program, here[0])) {
    assert(!group || group->size() == hosts.ranks());
    if (!group)
      local.emplace(mesh);
    else if (hosts != mesh) // more than one each, or numbered in another order
      local.emplace(mesh, hosts, *group);
    else
      remote.emplace(*group, mesh);
    requireMemory(program, options);
    for (int64_t rank : here) {
      const artifact::Program &ofRank = artifact::programOf(program, rank);
      DeviceOptions own = options;
      own.threads = threadsOf(options);
      own.transport = remote ? &*remote : &local->of(rank);
      // Some ranks may have room for what others have not.
      bool offloads = artifact::deviceOf(ofRank).host() || !anyOffloads(program);
      own.offloadFolder = offloads ? options.offloadFolder : "";
      devices.push_back(make(ofRank, own));
    }
    findTensors(program);
    setBegins(program);
    if (group) {
      // Of several ranks, the first is as far as the others but for an exchange.
      devices[0]->trace(&recent);
      group->recordWith([this] { return lastActions(recent, ofFirst); });
    }
    try {
      for (size_t i = 0; i < here.size(); ++i)
        threads.push_back(startThread([this, i] { drive(i); }));
    } catch (...) {
      stop();
      throw;
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

  Ticket run(uint32_t entry) override {
    if (local)
      local->begin();
    std::unique_lock lock(mutex);
    asked = entry;
    left = devices.size();
    failure = nullptr;
    ++runs;
    changed.notify_all();
    changed.wait(lock, [&] { return left == 0; });
    if (failure)
      std::rethrow_exception(failure);
    return 0;
  }

  void wait(Ticket) override {}
  void trace(Trace *trace) override { devices[0]->trace(trace || !group ? trace : &recent); }
  void observe(Observer *observer) override {
    if (observer)
      throw Failure(
          Exit::usage,
          concat("what actions read and write is looked at on one device, and this program is of ",
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
      all += device.arena() + device.pinned() + (options.offloadFolder.empty() ? device.host() : 0);
    }
    uint64_t ranks = here.size();
    if (group) {
      all *= uint64_t(group->neighbours());
      ranks *= uint64_t(group->neighbours());
    }
    if (there && all > there)
      throw Failure(Exit::device,
                    concat("not enough memory for the model's tensors of the ", ranks,
                           " ranks on this machine: ", all, " bytes are needed, there are ", there,
                           hosts == mesh
                               ? "; compile with a --memory SIZE, which is one rank's, or "
                               : "; compile without --deterministic, or ",
                           "run ranks on more machines"));
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
    group->exchange(all, "reading what is cut", given, got);
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

  void drive(size_t number) {
    uint64_t done = 0;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopping || runs != done; });
      if (stopping)
        return;
      done = runs;
      uint32_t entry = asked;
      lock.unlock();
      std::exception_ptr failed;
      try {
        Device &device = *devices[number];
        device.wait(device.run(entry));
      } catch (...) {
        failed = std::current_exception();
      }
      if (!failed && local)
        local->finish(here[number]);
      lock.lock();
      // What the others throw then is that this rank has ended.
      if (failed && !failure) {
        failure = failed;
        if (local)
          local->end();
      }
      if (--left == 0)
        changed.notify_all();
    }
  }

  const Mesh mesh, hosts;
  Group *const group;                                  ///< null: all ranks are here
  const std::vector<int64_t> here;                     ///< ranks
  std::optional<collectives::LocalRanks> local;        ///< or
  std::optional<collectives::ProcessTransport> remote; ///< where each process is a rank
  std::vector<std::unique_ptr<Device>> devices;        ///< as `here`
  std::vector<WholeTensor> tensors;
  const artifact::Program &ofFirst;        ///< what the first rank that is here runs
  Trace recent = Trace(recentActions, {}); ///< of it, where it is a process

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  uint64_t runs = 0;  ///< that were asked for
  uint32_t asked = 0; ///< the entry of the last one
  size_t left = 0;    ///< ranks that still run it
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

} // namespace

std::unique_ptr<Device> makeMeshDevice(const artifact::Program &program,
                                       const DeviceOptions &options, const MakeDevice &make) {
  return std::make_unique<MeshDevice>(program, options, make);
}

} // namespace weir
