//===- Device.h - What runs programs --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between the runtime and each kind of device. A device is made for one verified
// artifact, which outlives it: it then holds the arena, the code and the library primitives that
// its plan asks for, and nothing is allocated later. No pointer into its memory crosses this
// interface: bytes go in and out by address. What it is asked to do happens in the order of asking;
// a device may be asynchronous, so that each request gives a ticket to wait for.
//
// test/conformance/device is the suite that every device runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_DEVICE_H
#define WEIR_RUNTIME_CORE_DEVICE_H

#include "artifact/Artifact_generated.h"
#include "runtime/core/Observer.h"
#include "runtime/core/Trace.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace weir {

/// A place in a device's memory: bytes from the arena's start. Behind the arena's end is pinned
/// memory, the host's side of transfers. What the host writes there is for the run that it asks for
/// next; what it reads there is what the run left that it waited for last. Behind that is what lies
/// with the host for want of room, which is read and written as the arena is.
using Address = uint64_t;

/// Something asked of a device. Later ones are larger; 0 is done.
using Ticket = uint64_t;

class Group;
class Transport;

struct DeviceOptions {
  int threads = 0;       ///< of a CPU; 0: the cores this process may use
  bool poison = false;   ///< fill scratch with NaN before its first and after its last use, to show
                         ///< that no dead byte is read
  std::string kind = {}; ///< of the device: a name of runtime/devices; "": what the program is for
  std::string offloadFolder = {}; ///< where what lies with the host is a file; "": in memory
  Transport *transport = nullptr; ///< of a program of several ranks: to the others, outlives it
  Group *group = nullptr;         ///< of a program of several ranks that are processes; outlives it
  int64_t processes = 0;  ///< that the run has, where it knows without a group; 0: it does not
  int64_t rank = 0;       ///< of a program of several ranks: which it is
  int64_t number = 0;     ///< of the machine's devices, where there are several of a kind
  int64_t patience = 300; ///< seconds for a rank that is alive and late
  bool graph = true;      ///< where a device can run an entry's actions as one, it does
};

struct DeviceFacts {
  std::string name;         ///< "2 threads", "NVIDIA H200"
  size_t threadScratch = 0; ///< bytes that each thread holds besides the arena
  bool computes = true;     ///< else nothing but copies changes the arena
  int ahead = 0;            ///< how many runs may be asked for while another is not waited for yet
  uint64_t hostMemory = 0;  ///< bytes of the host's that it holds, and other processes with it
};

/// Bytes of a device that are in this process at a time, where they are read one after the other.
inline constexpr size_t mostStaged = 4 << 20;

class Device {
public:
  virtual ~Device() = default;

  virtual DeviceFacts facts() const = 0;

  /// Copies `from` to the arena. The bytes stay as they are until the ticket is done.
  virtual Ticket write(Address to, std::span<const std::byte> from) = 0;

  /// Copies from the arena; `to` is filled when the ticket is done.
  virtual Ticket read(Address from, std::span<std::byte> to) = 0;

  /// Where bytes are: how many, from number `from` on of those that are asked about.
  using Range = std::function<void(uint64_t from, uint64_t size)>;
  using Bytes = std::function<void(uint64_t from, std::span<const std::byte> bytes)>;

  /// Of `size` bytes of a tensor at the address, calls `visit` for those that are this process's to
  /// save: where several processes keep the tensor, each byte is one's. By any thread, at any time.
  virtual void forEachOwned(Address address, uint64_t size, const Range &visit) const {
    visit(0, size);
  }

  /// Calls `visit` with these bytes, in the same order. No other process takes part.
  virtual void readOwned(Address address, uint64_t size, const Bytes &visit);

  /// As forEachOwned(), for the bytes that this process keeps, of which others may be keepers too:
  /// write() looks at no other.
  virtual void forEachKept(Address address, uint64_t size, const Range &visit) const {
    visit(0, size);
  }

  using Shares = std::function<void(int64_t rank, std::span<const std::byte> bytes)>;

  /// Calls `visit` with all bytes that each rank of this process has of the tensor at the address,
  /// of `size` bytes in all: block by block, in the order in which the rank has them. Ranks with
  /// the same share get the same blocks. No other process takes part.
  virtual void readShares(Address address, uint64_t size, const Shares &visit) {
    readOwned(address, size, [&](uint64_t, std::span<const std::byte> bytes) { visit(0, bytes); });
  }

  /// Executes all actions of the entry of that number.
  virtual Ticket run(uint32_t entry) = 0;

  /// Returns when what the ticket is of, and all that was asked before, is done. Throws what went
  /// wrong on the way.
  virtual void wait(Ticket ticket) = 0;

  /// From now on records when each action runs; null stops. `trace` outlives the runs.
  virtual void trace(Trace *trace) = 0;

  /// From now on `observer` is called around every action, which sees the arena as the action finds
  /// and leaves it; null stops.
  virtual void observe(Observer *observer) = 0;
};

/// Makes a device ready to run the program. Throws Failure: Exit::model for what is wrong with the
/// program's code or this machine, Exit::device for memory or threads.
using MakeDevice = std::function<std::unique_ptr<Device>(const artifact::Program &program,
                                                         const DeviceOptions &options)>;

} // namespace weir

#endif
