//===- Program.h - A loaded artifact, ready to run ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Program owns the artifact's bytes and the device that runs it. After construction nothing is
// allocated: an entry's run only executes actions. Not thread-safe: one caller at a time.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_PROGRAM_H
#define WEIR_RUNTIME_CORE_PROGRAM_H

#include "runtime/core/Device.h"
#include "support/precision/Element.h"
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct ProgramOptions {
  DeviceOptions device;
  bool entriesAlone = false; ///< they are run one by one: `eval` need not be like `step`
};

/// A named tensor that the device keeps, as long as the Program lives.
struct TensorView {
  std::string name;
  Element element;
  std::vector<int64_t> shape;
  artifact::Role role;
  size_t size; ///< bytes
  Device *device;
  Address address;

  /// Bytes from number `from` on. They return when it is done.
  void read(size_t from, std::span<std::byte> to) const;
  void write(size_t from, std::span<const std::byte> bytes) const;

  /// As Device's, of all bytes of the tensor.
  void forEachOwned(const Device::Range &visit) const;
  void readOwned(const Device::Bytes &visit) const;
  void forEachKept(const Device::Range &visit) const;
  void readShares(const Device::Shares &visit) const;
};

class Program {
public:
  /// Verifies `bytes` (artifact/Reader.h) and prepares to run them on a device that `make`
  /// makes. Throws Failure: Exit::model for what is wrong with the file or this machine,
  /// Exit::device for memory.
  Program(std::vector<std::byte> bytes, const MakeDevice &make, const ProgramOptions &options);
  ~Program();

  const artifact::Program &plan() const;

  /// Parameters, state, optimizer state and the run's scalars, in the artifact's order.
  const std::vector<TensorView> &variables() const;

  /// The entry of that name, or null.
  const artifact::Entry *entry(std::string_view name) const;

  /// Writes an input before run(), or reads an output after; done when they return. What an entry
  /// leaves in its outputs stays until the next run of any entry.
  void write(const artifact::Entry &entry, const artifact::Port &port,
             std::span<const std::byte> bytes);
  void read(const artifact::Entry &entry, const artifact::Port &port,
            std::span<std::byte> to) const;

  /// The bytes of an input that write() keeps: of several processes' ranks, what those here read.
  void forEachKept(const artifact::Entry &entry, const artifact::Port &port,
                   const Device::Range &visit) const;

  /// Asks for the entry's actions, with the inputs as they are written. Others may be asked for
  /// before this is waited for: as many as DeviceFacts::ahead says, where all inputs and outputs
  /// are in pinned memory.
  Ticket start(const artifact::Entry &entry);

  /// Returns when that run is done: its outputs are read from now on. Throws what went wrong.
  void finish(Ticket run);

  /// Executes the entry's actions and returns when all are done.
  void run(const artifact::Entry &entry) { finish(start(entry)); }

  DeviceFacts facts() const;

  /// From now on records when each action runs: the newest `capacity` of them and, with `sums`, how
  /// often and how long each ran in all. 0 without sums stops.
  void trace(size_t capacity, bool sums = false);

  /// What was recorded; null when not tracing. An event's action is numbered as in the artifact,
  /// within `Event::entry`.
  const Trace *trace() const;

  /// From now on `observer` is called around every action; null stops. It has to outlive this, or
  /// what it observes.
  void observe(Observer *observer);

  /// Reads the arena, in which variables and buffers lie where the artifact says.
  void readArena(Address from, std::span<std::byte> to) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace weir

#endif
