//===- MeshDevice.cpp - All ranks of a mesh as one device -----------------===//
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
#include "runtime/base/Names.h"
#include "runtime/base/Text.h"
#include "runtime/base/Thread.h"
#include "runtime/collectives/LocalRanks.h"
#include "runtime/core/WholeTensors.h"
#include "runtime/cpu/ThreadPool.h"
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace weir {
namespace {

/// One of all ranks' variables or ports.
struct WholeTensor {
  Layout layout;
  size_t elementSize;
  std::vector<Address> places; ///< of each rank's part
  std::vector<int64_t> owners; ///< ranks that have all of it together, each part once
};

class MeshDevice : public Device {
public:
  MeshDevice(const artifact::Program &program, const DeviceOptions &options, const MakeDevice &make)
      : mesh(artifact::meshOf(program)), ranks(mesh) {
    DeviceOptions own = options;
    int together = options.threads > 0 ? options.threads : cpu::availableCores();
    own.threads = std::max<int>(1, together / int(mesh.ranks()));
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      const artifact::Program &ofRank = artifact::programOf(program, rank);
      own.transport = &ranks.of(rank);
      // Some ranks may have room for what others have not.
      bool offloads = artifact::deviceOf(ofRank).host() || !anyOffloads(program);
      own.offloadFolder = offloads ? options.offloadFolder : "";
      devices.push_back(make(ofRank, own));
    }
    findTensors(program);
    setBegins(program);
    try {
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
        threads.push_back(startThread([this, rank] { drive(rank); }));
    } catch (...) {
      stop();
      throw;
    }
  }

  ~MeshDevice() override { stop(); }

  DeviceFacts facts() const override {
    DeviceFacts facts = devices[0]->facts();
    facts.name = concat(mesh.ranks(), " ranks (", mesh.text(), ") of ", facts.name);
    facts.ahead = 0;
    return facts;
  }

  Ticket write(Address to, std::span<const std::byte> from) override {
    const WholeTensor &tensor = at(to);
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      forEachPart(tensor, rank, to, from.size(), [&](uint64_t whole, Address own, uint64_t size) {
        devices[rank]->wait(devices[rank]->write(own, from.subspan(whole, size)));
      });
    return 0;
  }

  Ticket read(Address from, std::span<std::byte> to) override {
    const WholeTensor &tensor = at(from);
    for (int64_t rank : tensor.owners)
      forEachPart(tensor, rank, from, to.size(), [&](uint64_t whole, Address own, uint64_t size) {
        devices[rank]->wait(devices[rank]->read(own, to.subspan(whole, size)));
      });
    return 0;
  }

  Ticket run(uint32_t entry) override {
    ranks.begin();
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
  void trace(Trace *trace) override { devices[0]->trace(trace); }
  void observe(Observer *observer) override {
    if (observer)
      throw Failure(
          Exit::usage,
          concat("what actions read and write is looked at on one device, and this program is of ",
                 mesh.ranks(), " ranks: compile it without --mesh"));
  }

private:
  static bool anyOffloads(const artifact::Program &program) {
    bool any = artifact::deviceOf(program).host();
    if (program.others())
      for (const artifact::Program *other : *program.others())
        any |= artifact::deviceOf(*other).host() > 0;
    return any;
  }

  void stop() {
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
    for (size_t rank = 0; rank < devices.size(); ++rank) {
      const artifact::Program &own = artifact::programOf(program, int64_t(rank));
      forEachWholeTensor(own, [&](const auto &tensor, const artifact::Entry *entry) {
        if constexpr (requires { tensor.ref(); })
          places[rank].push_back(artifact::addressOf(own, *entry, *tensor.ref()));
        else
          places[rank].push_back(artifact::addressOf(own, tensor));
      });
    }
    forEachWholeTensor(program, [&](const auto &tensor, const artifact::Entry *) {
      WholeTensor whole{
          artifact::layoutOf(mesh, tensor), sizeOf(artifact::elementOf(tensor.dtype())), {}, {}};
      for (size_t rank = 0; rank < devices.size(); ++rank) {
        whole.places.push_back(places[rank][tensors.size()]);
        bool isFirst = true;
        for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
          isFirst &= whole.layout.isCutOver(axis) || mesh.coordinate(int64_t(rank), axis) == 0;
        if (isFirst)
          whole.owners.push_back(int64_t(rank));
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
      for (int64_t rank = 0; piece && rank < mesh.ranks(); ++rank) {
        auto begin = static_cast<int32_t>(piece->share(mesh, rank).begin);
        Device &device = *devices[size_t(rank)];
        device.wait(device.write(tensors[number].places[size_t(rank)],
                                 std::as_bytes(std::span(&begin, 1))));
      }
      ++number;
    }
  }

  const WholeTensor &at(Address address) const { return tensors[address >> wholeTensorBits]; }

  /// Calls `visit(whole, own, size)` for what a rank has of bytes of a tensor: `size` of them,
  /// number `whole` on of those asked for, at the rank's address `own`.
  template <class Visit>
  void forEachPart(const WholeTensor &tensor, int64_t rank, Address address, uint64_t size,
                   Visit visit) const {
    uint64_t first = address & ((uint64_t(1) << wholeTensorBits) - 1), end = first + size;
    forEachRun(tensor.layout, mesh, rank, [&](int64_t whole, int64_t own, int64_t count) {
      uint64_t begin = std::max(first, whole * tensor.elementSize),
               last = std::min(end, (whole + count) * tensor.elementSize);
      if (begin < last)
        visit(begin - first,
              tensor.places[size_t(rank)] + own * tensor.elementSize +
                  (begin - whole * tensor.elementSize),
              last - begin);
    });
  }

  void drive(int64_t rank) {
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
        Device &device = *devices[size_t(rank)];
        device.wait(device.run(entry));
      } catch (...) {
        failed = std::current_exception();
      }
      if (!failed)
        ranks.finish(rank);
      lock.lock();
      // What the others throw then is that this rank has ended.
      if (failed && !failure) {
        failure = failed;
        ranks.end();
      }
      if (--left == 0)
        changed.notify_all();
    }
  }

  const Mesh mesh;
  collectives::LocalRanks ranks;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<WholeTensor> tensors;

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
