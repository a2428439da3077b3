//===- TestProgram.h - Artifacts by hand ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays out variables and buffers one behind another, and packs what the tests of the reader and the
// executor need.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_CORE_TESTPROGRAM_H
#define WEIR_TEST_RUNTIME_CORE_TESTPROGRAM_H

#include "artifact/Artifact_generated.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "support/spec/Call.h"
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace weir {

/// An operand: `stride` bytes further in every round of loop number `loop`, the outermost being 0.
struct Operand {
  artifact::Ref ref;
  int64_t stride = 0;
  uint32_t modulus = 0, loop = 0;
};

struct TestProgram {
  artifact::ProgramT program;

  TestProgram() {
    program.model = "test";
    program.devices.push_back(std::make_unique<artifact::DeviceT>());
    device().target = "x86-64-v3";
    program.files = {"test.weir"};
    program.batch = 1;
    program.steps = 10;
    addEntry("init");
    addEntry("step");
  }

  artifact::DeviceT &device() { return *program.devices.front(); }

  artifact::EntryT &addEntry(const std::string &name) {
    program.entries.push_back(std::make_unique<artifact::EntryT>());
    program.entries.back()->name = name;
    return *program.entries.back();
  }
  artifact::EntryT &step() { return *program.entries[1]; }

  /// All variables come before all buffers.
  uint32_t variable(const std::string &name, std::vector<int64_t> shape,
                    artifact::DType dtype = artifact::DType::f32,
                    artifact::Role role = artifact::Role::parameter) {
    auto variable = std::make_unique<artifact::VariableT>();
    variable->name = name;
    variable->shape = shape;
    variable->dtype = dtype;
    variable->role = role;
    variable->size = sizeOf(artifact::elementOf(dtype));
    for (int64_t dim : shape)
      variable->size *= dim;
    variable->offset = device().persistent;
    device().persistent = device().arena = (device().persistent + variable->size + 63) / 64 * 64;
    program.variables.push_back(std::move(variable));
    return program.variables.size() - 1;
  }

  /// Of floats that lie with the host.
  uint32_t hosts(const std::string &name, int64_t count) {
    uint32_t index = variable(name, {count});
    artifact::VariableT &made = *program.variables[index];
    device().persistent -= (made.size + 63) / 64 * 64;
    device().arena = device().persistent;
    made.space = artifact::Space::host;
    made.offset = device().host;
    device().host += (made.size + 63) / 64 * 64;
    return index;
  }

  uint32_t buffer(artifact::EntryT &entry, uint64_t size, uint32_t first, uint32_t last) {
    uint64_t offset = device().arena;
    device().arena += (size + 63) / 64 * 64;
    return bufferAt(entry, offset, size, first, last);
  }

  uint32_t bufferAt(artifact::EntryT &entry, uint64_t offset, uint64_t size, uint32_t first,
                    uint32_t last) {
    auto buffer = std::make_unique<artifact::BufferT>();
    buffer->offset = offset;
    buffer->size = size;
    buffer->first = first;
    buffer->last = last;
    entry.buffers.push_back(std::move(buffer));
    return entry.buffers.size() - 1;
  }

  static Operand var(uint32_t index, int64_t offset = 0, int64_t stride = 0) {
    return {{artifact::Memory::variable, index, offset}, stride};
  }
  static Operand buf(uint32_t index, int64_t offset = 0, int64_t stride = 0) {
    return {{artifact::Memory::buffer, index, offset}, stride};
  }

  using Action = std::unique_ptr<artifact::ActionT>;

  template <typename Work> static Action action(Work work, std::vector<Operand> operands) {
    auto action = std::make_unique<artifact::ActionT>();
    action->work.Set(std::move(work));
    for (const Operand &operand : operands) {
      if (operand.stride != 0)
        action->moves.push_back({static_cast<uint32_t>(action->operands.size()), operand.loop,
                                 operand.modulus, operand.stride});
      action->operands.push_back(operand.ref);
    }
    return action;
  }

  void add(Action action) { step().actions.push_back(std::move(action)); }

  static Action copy(Operand from, Operand to, uint64_t size) {
    artifact::CopyT copy;
    copy.size = size;
    return action(std::move(copy), {from, to});
  }

  static Action call(const spec::Call &spec, std::vector<Operand> operands) {
    artifact::CallT call;
    call.kind = spec::kindOf(spec);
    call.fields = spec::encode(spec);
    return action(std::move(call), std::move(operands));
  }

  template <typename... Actions>
  static Action loop(uint32_t count, Operand round, Actions... body) {
    artifact::LoopT loop;
    loop.count = count;
    (loop.body.push_back(std::move(body)), ...);
    return action(std::move(loop), {round});
  }

  static std::unique_ptr<artifact::PortT> port(const std::string &name, artifact::PortKind kind,
                                               Operand place, std::vector<int64_t> shape,
                                               artifact::DType dtype = artifact::DType::f32) {
    auto port = std::make_unique<artifact::PortT>();
    port->name = name;
    port->kind = kind;
    port->ref = std::make_unique<artifact::Ref>(place.ref);
    port->shape = std::move(shape);
    port->dtype = dtype;
    return port;
  }

  /// A kernel of the test's shared object, which writes the operands named and reads the others.
  uint32_t kernel(const std::string &symbol, uint64_t tasks, std::vector<uint64_t> sizes,
                  std::vector<size_t> written = {}, uint64_t scratch = 0) {
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->symbol = symbol;
    kernel->shape = "map";
    kernel->tasks = tasks;
    kernel->thread_scratch = scratch;
    device().thread_scratch = std::max(device().thread_scratch, scratch);
    for (uint64_t size : sizes)
      kernel->operands.push_back({artifact::Mode::read, size});
    for (size_t operand : written)
      kernel->operands[operand].mutate_mode(artifact::Mode::write);
    program.kernels.push_back(std::move(kernel));
    return program.kernels.size() - 1;
  }

  static Action launch(uint32_t kernel, std::vector<Operand> operands) {
    artifact::LaunchT launch;
    launch.kernel = kernel;
    return action(std::move(launch), std::move(operands));
  }

  void code(std::vector<uint8_t> bytes) {
    program.blobs.clear();
    program.blobs.push_back(std::make_unique<artifact::BlobT>());
    program.blobs.back()->bytes = std::move(bytes);
  }

  void code(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    code(std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {}));
  }

  std::vector<std::byte> payload() const {
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder, artifact::CreateProgram(builder, &program));
    const auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
    return {data, data + builder.GetSize()};
  }

  std::vector<std::byte> file() const { return artifact::wrap(payload()); }
};

} // namespace weir

#endif
