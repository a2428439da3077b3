//===- RepeatsTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/page/Repeats.h"
#include <gtest/gtest.h>
#include <memory>

using namespace weir;

namespace {

constexpr uint32_t x = 0, a = 1, b = 2, c = 3; // buffers of 64 bytes; x is the input

artifact::Ref at(uint32_t buffer, int64_t offset = 0) {
  return artifact::Ref(artifact::Memory::buffer, buffer, offset);
}

/// Two that read and write 64 bytes, and one of 32.
enum Kernel : uint32_t { first, second, half };

std::unique_ptr<artifact::ActionT> launch(Kernel kernel, uint32_t from, uint32_t to,
                                          int64_t offset = 0) {
  auto action = std::make_unique<artifact::ActionT>();
  artifact::LaunchT work;
  work.kernel = kernel;
  action->work.Set(std::move(work));
  action->operands.push_back(at(from, offset));
  action->operands.push_back(at(to, offset));
  return action;
}

using Actions = std::vector<std::unique_ptr<artifact::ActionT>>;

template <class... Rest> Actions list(Rest... rest) {
  Actions actions;
  (actions.push_back(std::move(rest)), ...);
  return actions;
}

std::unique_ptr<artifact::ActionT> loop(Actions body) {
  auto action = std::make_unique<artifact::ActionT>();
  artifact::LoopT work;
  work.count = 3;
  work.body = std::move(body);
  action->work.Set(std::move(work));
  action->operands.push_back(at(c));
  return action;
}

std::vector<int> repeats(Actions actions) {
  artifact::ProgramT program;
  for (uint64_t bytes : {64, 64, 32}) {
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->symbol = "k";
    kernel->shape = "map";
    kernel->operands = {artifact::Operand(artifact::Mode::read, bytes),
                        artifact::Operand(artifact::Mode::write, bytes)};
    program.kernels.push_back(std::move(kernel));
  }
  auto entry = std::make_unique<artifact::EntryT>();
  entry->name = "step";
  for (int i = 0; i < 4; ++i)
    entry->buffers.push_back(std::make_unique<artifact::BufferT>());
  auto input = std::make_unique<artifact::PortT>();
  input->name = "x";
  input->ref = std::make_unique<artifact::Ref>(at(x));
  entry->inputs.push_back(std::move(input));
  entry->actions = std::move(actions);
  program.model = "net";
  program.entries.push_back(std::move(entry));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Program::Pack(builder, &program));
  const auto &packed = *flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer());
  return repeatsOf(packed, *packed.entries()->Get(0));
}

TEST(Repeats, TheSameKernelOnTheSameValues) {
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(first, x, b))), (std::vector{-1, 0}));
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(second, x, b))), (std::vector{-1, -1}));
}

TEST(Repeats, WhatIsComputedFromWhatIsRepeated) {
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(second, a, b), launch(first, x, c),
                         launch(second, c, a))),
            (std::vector{-1, -1, 0, 1}));
}

TEST(Repeats, NotOfAPlaceThatHoldsSomethingElse) {
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(first, a, b), launch(second, x, a),
                         launch(first, a, b))),
            (std::vector{-1, -1, -1, -1}));
  // A half of it.
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(second, a, b), launch(half, x, a, 32),
                         launch(second, a, b))),
            (std::vector{-1, -1, -1, -1}));
}

TEST(Repeats, HalvesAreComparedByWhereTheyAreOfAWhole) {
  EXPECT_EQ(repeats(list(launch(first, x, a), launch(half, a, b), launch(half, a, b, 32),
                         launch(half, a, c), launch(half, a, c, 32))),
            (std::vector{-1, -1, -1, 1, 2}));
}

TEST(Repeats, InALoopWhatItWritesIsAnotherValueInEachRound) {
  // b is read ahead of where the round writes it: of the round before, all but once.
  EXPECT_EQ(repeats(list(launch(first, x, b), launch(second, b, a),
                         loop(list(launch(second, b, a), launch(first, a, b))))),
            (std::vector{-1, -1, -1, -1, -1}));
  EXPECT_EQ(repeats(list(loop(list(launch(first, x, a), launch(first, x, b))))),
            (std::vector{-1, -1, 1}));
}

} // namespace
