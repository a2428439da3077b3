//===- Program.h - A loaded artifact, ready to run ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Program owns the artifact's bytes, its one arena, the loaded code, the library primitives and
// the worker threads. After construction nothing is allocated: an entry's run only executes
// actions. Not thread-safe: one caller at a time.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_PROGRAM_H
#define WEIR_RUNTIME_CORE_PROGRAM_H

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/core/Observer.h"
#include "runtime/core/Trace.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct ProgramOptions {
  int threads = 0;     ///< 0: the cores this process may use
  bool poison = false; ///< fill scratch with NaN before its first and after its last use, to show
                       ///< that no dead byte is read
  bool entriesAlone = false; ///< they are run one by one: `eval` need not be like `step`
};

/// What can be known of an artifact without running it, on any machine: the rules of its file
/// (runtime/artifact/Reader.h), what training relies on besides, and that its machine code can be
/// mapped and has every kernel.
/// `bytes` are 16-byte aligned. Throws Failure: Exit::model, and Exit::device for memory.
const artifact::Program &checkProgram(std::span<const std::byte> bytes);

/// A named tensor in the arena. `data` stays valid as long as the Program.
struct TensorView {
  std::string name;
  artifact::DType dtype;
  std::vector<int64_t> shape;
  artifact::Role role; ///< of variables only
  std::byte *data;
  size_t size; ///< bytes
};

class Program {
public:
  /// Verifies `bytes` (runtime/artifact/Reader.h) and prepares to run them. Throws Failure:
  /// Exit::model for what is wrong with the file or this CPU, Exit::device for memory.
  Program(std::vector<std::byte> bytes, const ProgramOptions &options);
  ~Program();

  const artifact::Program &plan() const;

  /// Parameters, state, optimizer state and the run's scalars, in the artifact's order.
  const std::vector<TensorView> &variables() const;

  /// The entry of that name, or null.
  const artifact::Entry *entry(std::string_view name) const;

  /// Where the host writes an input before run(), and reads an output after. The place is valid
  /// only between the two and until the next run of any entry.
  std::byte *port(const artifact::Entry &entry, const artifact::Port &port);

  /// Executes the entry's actions and returns when all are done.
  void run(const artifact::Entry &entry);

  int threads() const;

  /// Bytes allocated per worker thread: what the artifact states, or more where this CPU's library
  /// needs more.
  size_t threadScratch() const;

  /// From now on records when each action runs, the newest `capacity` of them; 0 stops.
  void trace(size_t capacity);

  /// What was recorded; null when not tracing. An event's action is numbered as in the artifact,
  /// within `Event::entry`.
  const Trace *trace() const;

  /// From now on `observer` is called around every action; null stops. It has to outlive this, or
  /// what it observes.
  void observe(Observer *observer);

  /// All of the arena; variables and buffers lie in it where the artifact says.
  std::span<const std::byte> arena() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace weir

#endif
