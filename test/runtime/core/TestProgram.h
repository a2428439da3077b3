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

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/artifact/Header.h"
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace weir {

struct TestProgram {
  artifact::ProgramT program;

  TestProgram() {
    program.model = "test";
    program.target = "x86-64-v3";
    program.files = {"test.weir"};
    program.batch = 1;
    program.steps = 10;
    addEntry("init");
    addEntry("step");
  }

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
    variable->size = dtype == artifact::DType::f32 || dtype == artifact::DType::i32 ? 4 : 1;
    for (int64_t dim : shape)
      variable->size *= dim;
    variable->offset = program.persistent;
    program.persistent = program.arena = (program.persistent + variable->size + 63) / 64 * 64;
    program.variables.push_back(std::move(variable));
    return program.variables.size() - 1;
  }

  uint32_t buffer(artifact::EntryT &entry, uint64_t size, uint32_t first, uint32_t last) {
    uint64_t offset = program.arena;
    program.arena += (size + 63) / 64 * 64;
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

  static std::unique_ptr<artifact::Ref> var(uint32_t index, uint64_t offset = 0,
                                            uint64_t stride = 0) {
    return std::make_unique<artifact::Ref>(artifact::Space::variable, index, offset, stride);
  }
  static std::unique_ptr<artifact::Ref> buf(uint32_t index, uint64_t offset = 0,
                                            uint64_t stride = 0) {
    return std::make_unique<artifact::Ref>(artifact::Space::buffer, index, offset, stride);
  }

  template <typename Work> static std::unique_ptr<artifact::ActionT> action(Work work) {
    auto action = std::make_unique<artifact::ActionT>();
    action->work.Set(std::move(work));
    return action;
  }

  template <typename Work> void add(Work work) {
    step().actions.push_back(action(std::move(work)));
  }

  static artifact::CopyT copy(std::unique_ptr<artifact::Ref> from,
                              std::unique_ptr<artifact::Ref> to, uint64_t size) {
    artifact::CopyT copy;
    copy.from = std::move(from);
    copy.to = std::move(to);
    copy.size = size;
    return copy;
  }

  static artifact::FillT fill(std::unique_ptr<artifact::Ref> to, uint64_t size, uint8_t value) {
    artifact::FillT fill;
    fill.to = std::move(to);
    fill.size = size;
    fill.value = value;
    return fill;
  }

  static std::unique_ptr<artifact::PortT> port(const std::string &name, artifact::PortKind kind,
                                               std::unique_ptr<artifact::Ref> ref,
                                               std::vector<int64_t> shape,
                                               artifact::DType dtype = artifact::DType::f32) {
    auto port = std::make_unique<artifact::PortT>();
    port->name = name;
    port->kind = kind;
    port->ref = std::move(ref);
    port->shape = std::move(shape);
    port->dtype = dtype;
    return port;
  }

  /// A kernel of the test's shared object.
  uint32_t kernel(const std::string &symbol, uint64_t tasks, std::vector<uint64_t> sizes,
                  uint64_t scratch = 0) {
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->symbol = symbol;
    kernel->shape = "map";
    kernel->tasks = tasks;
    kernel->thread_scratch = scratch;
    program.thread_scratch = std::max(program.thread_scratch, scratch);
    for (uint64_t size : sizes) {
      kernel->operands.push_back(std::make_unique<artifact::OperandT>());
      kernel->operands.back()->size = size;
    }
    program.kernels.push_back(std::move(kernel));
    return program.kernels.size() - 1;
  }

  static artifact::LaunchT launch(uint32_t kernel, std::vector<artifact::Ref> operands) {
    artifact::LaunchT launch;
    launch.kernel = kernel;
    launch.operands = std::move(operands);
    return launch;
  }

  void code(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    program.code.assign(std::istreambuf_iterator<char>(file), {});
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
