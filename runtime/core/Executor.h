//===- Executor.h - An entry as a list of prepared steps ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to runtime/core. Every index and offset of the artifact is resolved into addresses when
// it is loaded; running an entry looks nothing up and allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_EXECUTOR_H
#define WEIR_RUNTIME_CORE_EXECUTOR_H

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/core/Observer.h"
#include "runtime/core/ThreadPool.h"
#include "runtime/core/Trace.h"
#include "runtime/cpu/Convolution.h"
#include "runtime/cpu/Product.h"
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace weir {

class Loader;

/// What a compiled kernel is. `scratch` is the worker's own.
using KernelFunction = void (*)(void *const *operands, int64_t lo, int64_t hi, void *scratch);

/// What every step uses, owned by the Program.
struct Machine {
  const artifact::Program *plan;
  std::byte *arena;
  std::byte *scratch = nullptr; // of worker 0; the others' follow at scratchStride
  size_t scratchStride = 0;
  ThreadPool *pool;
  bool poison = false;
  Trace *trace = nullptr;
  Observer *observer = nullptr;
  std::vector<KernelFunction> kernels;

  // Equal calls, as those of repeated layers, are made once.
  std::map<spec::Product, std::unique_ptr<cpu::Product>> products;
  std::map<spec::Convolution, std::unique_ptr<cpu::Convolution>> convolutions;

  std::byte *workerScratch(int worker) const { return scratch + worker * scratchStride; }
};

/// The rounds of the loops around an action, the outermost first.
using Rounds = const uint32_t *;

/// A place in the arena that may move with the loops around its user.
struct Place {
  std::byte *base = nullptr;
  struct Move {
    uint32_t loop, modulus; ///< a modulus of 0 is none
    int64_t bytes;
  };
  std::vector<Move> moves;

  template <typename T> T *at(Rounds rounds) const {
    std::byte *place = base;
    for (const Move &move : moves) {
      int64_t round = rounds[move.loop];
      place += move.bytes * (move.modulus ? round % move.modulus : round);
    }
    return reinterpret_cast<T *>(place);
  }
};

/// An action with everything resolved.
class Step {
public:
  virtual ~Step() = default;
  virtual void run(Rounds rounds) = 0;
};

class Executor {
public:
  Executor(Machine &machine, const artifact::Entry &entry, uint32_t index);

  void run();

private:
  friend class LoopStep;

  struct Range {
    std::byte *begin;
    size_t size;
  };

  /// A step with its number, and what is filled with NaN after it.
  struct Numbered {
    uint32_t action;
    std::unique_ptr<Step> step;
    std::vector<Range> dead;
  };

  using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;

  std::vector<Numbered> prepare(const Actions &actions, std::optional<uint32_t> around);
  std::unique_ptr<Step> prepare(const artifact::Action &action);
  std::unique_ptr<Step> prepareCall(const spec::Product &spec, std::vector<Place> places);
  std::unique_ptr<Step> prepareCall(const spec::Convolution &spec, std::vector<Place> places);
  std::vector<Range> deadAfter(uint32_t first, uint32_t last, std::optional<uint32_t> around) const;
  std::vector<Place> resolve(const artifact::Action &action) const;
  bool isPort(const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &ports,
              uint32_t buffer) const;
  void runAll(std::vector<Numbered> &steps);
  void poisonBefore();

  Machine &machine;
  const artifact::Entry &entry;
  const uint32_t index;
  uint32_t nextAction = 0;
  std::vector<Numbered> steps;
  std::vector<uint32_t> rounds; ///< of the loops that are running
  uint32_t round = 0;           ///< of the innermost, counted over all rounds of those around it
};

} // namespace weir

#endif
