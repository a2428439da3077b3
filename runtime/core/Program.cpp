//===- Program.cpp - A loaded artifact, ready to run ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "runtime/artifact/Actions.h"
#include "runtime/artifact/Reader.h"
#include "runtime/core/Arena.h"
#include "runtime/core/Error.h"
#include "runtime/core/Executor.h"
#include "runtime/core/Loader.h"
#include "runtime/cpu/Isa.h"
#include <algorithm>
#include <cassert>
#include <optional>
#include <span>

namespace weir {

static constexpr size_t pageSize = 4096;

struct Program::Impl {
  explicit Impl(std::vector<std::byte> bytes) : bytes(std::move(bytes)) {}

  std::vector<std::byte> bytes;
  const artifact::Program *plan = nullptr;
  std::optional<Loader> code;
  std::optional<Arena> arena, scratch;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Trace> trace;
  Machine machine;
  std::vector<TensorView> variables;
  std::vector<std::unique_ptr<Executor>> executors; // as plan->entries()

  void allocateScratch();
  void listVariables();
};

/// The functions of the plan's kernels, in order; `code` maps them. Nothing where there are none.
static std::vector<KernelFunction> loadKernels(const artifact::Program &plan,
                                               std::optional<Loader> &code) {
  std::vector<KernelFunction> functions;
  if (plan.kernels()->size() == 0)
    return functions;
  const auto &bytes = *plan.blobs()->Get(0)->bytes();
  code.emplace(std::as_bytes(std::span(bytes.data(), bytes.size())));
  for (const artifact::Kernel *kernel : *plan.kernels()) {
    void *function = code->symbol(kernel->symbol()->string_view());
    if (!function)
      throw Failure(Exit::model, "the artifact's machine code has no kernel '" +
                                     kernel->symbol()->str() + "': compile the model again");
    functions.push_back(reinterpret_cast<KernelFunction>(function));
  }
  return functions;
}

const artifact::Program &checkProgram(std::span<const std::byte> bytes) {
  const artifact::Program &plan = artifact::verify(bytes);
  artifact::verifyEvaluations(plan);
  std::optional<Loader> code;
  loadKernels(plan, code);
  return plan;
}

// Known only when the primitives are made: another CPU may make the library choose other blocks
// than where it was compiled.
void Program::Impl::allocateScratch() {
  size_t bytes = artifact::deviceOf(*plan).thread_scratch();
  for (auto &[spec, product] : machine.products)
    bytes = std::max(bytes, product->scratch());
  for (auto &[spec, convolution] : machine.convolutions)
    bytes = std::max(bytes, convolution->scratch());
  machine.scratchStride = (bytes + pageSize - 1) / pageSize * pageSize;
  scratch.emplace(machine.scratchStride * pool->size(), "the threads' scratch");
  machine.scratch = scratch->data();
}

void Program::Impl::listVariables() {
  for (const artifact::Variable *variable : *plan->variables()) {
    TensorView view;
    view.name = variable->name()->str();
    view.dtype = variable->dtype();
    view.shape.assign(variable->shape()->begin(), variable->shape()->end());
    view.role = variable->role();
    view.data = machine.arena + variable->offset();
    view.size = variable->size();
    variables.push_back(std::move(view));
  }
}

Program::Program(std::vector<std::byte> bytes, const ProgramOptions &options)
    : impl(std::make_unique<Impl>(std::move(bytes))) {
  Impl &self = *impl;
  self.plan = &artifact::verify(self.bytes);
  if (!options.entriesAlone)
    artifact::verifyEvaluations(*self.plan);
  const artifact::Device &device = artifact::deviceOf(*self.plan);
  cpu::requireLevel(device.target()->string_view());
  cpu::boundLibrary(device.target()->string_view());
  self.machine.kernels = loadKernels(*self.plan, self.code);
  self.arena.emplace(device.arena(), "the model's tensors");
  self.pool = std::make_unique<ThreadPool>(options.threads);
  self.machine.plan = self.plan;
  self.machine.arena = self.arena->data();
  self.machine.pool = self.pool.get();
  self.machine.poison = options.poison;
  uint32_t index = 0;
  for (const artifact::Entry *entry : *self.plan->entries())
    self.executors.push_back(std::make_unique<Executor>(self.machine, *entry, index++));
  self.allocateScratch();
  self.listVariables();
}

Program::~Program() = default;

const artifact::Program &Program::plan() const { return *impl->plan; }
const std::vector<TensorView> &Program::variables() const { return impl->variables; }
int Program::threads() const { return impl->pool->size(); }
size_t Program::threadScratch() const { return impl->machine.scratchStride; }

const artifact::Entry *Program::entry(std::string_view name) const {
  for (const artifact::Entry *entry : *impl->plan->entries())
    if (entry->name()->string_view() == name)
      return entry;
  return nullptr;
}

std::byte *Program::port(const artifact::Entry &entry, const artifact::Port &port) {
  const artifact::Ref &ref = *port.ref();
  uint64_t offset = ref.memory() == artifact::Memory::variable
                        ? impl->plan->variables()->Get(ref.index())->offset()
                        : entry.buffers()->Get(ref.index())->offset();
  return impl->machine.arena + offset + ref.offset();
}

void Program::run(const artifact::Entry &entry) {
  ComputeThread state;
  const auto &entries = *impl->plan->entries();
  for (uint32_t i = 0; i < entries.size(); ++i)
    if (entries[i] == &entry)
      return impl->executors[i]->run();
  assert(false && "the entry is of another program");
}

void Program::trace(size_t capacity) {
  impl->trace = capacity ? std::make_unique<Trace>(capacity) : nullptr;
  impl->machine.trace = impl->trace.get();
}

const Trace *Program::trace() const { return impl->trace.get(); }

void Program::observe(Observer *observer) { impl->machine.observer = observer; }

std::span<const std::byte> Program::arena() const {
  return {impl->arena->data(), impl->arena->size()};
}

} // namespace weir
