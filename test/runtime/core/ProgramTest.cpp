//===- ProgramTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "runtime/core/Error.h"
#include "runtime/core/Executor.h"
#include "runtime/cpu/Isa.h"
#include "test/runtime/core/TestProgram.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace weir;
using Builder = TestProgram;

static float *floats(Program &program, uint32_t variable) {
  return reinterpret_cast<float *>(program.variables()[variable].data);
}

static void step(Program &program) { program.run(*program.entry("step")); }

TEST(Program, ListsVariablesAndEntries) {
  Builder test;
  test.variable("w", {3, 5});
  test.variable("step", {}, artifact::DType::i32, artifact::Role::run);
  Program program(test.file(), {});
  ASSERT_EQ(program.variables().size(), 2u);
  EXPECT_EQ(program.variables()[0].name, "w");
  EXPECT_EQ(program.variables()[0].shape, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(program.variables()[0].size, 60u);
  EXPECT_EQ(program.variables()[1].role, artifact::Role::run);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(program.variables()[0].data) % (2 << 20), 0u);
  EXPECT_EQ(floats(program, 0)[14], 0); // the arena is zeroed
  EXPECT_NE(program.entry("init"), nullptr);
  EXPECT_EQ(program.entry("absent"), nullptr);
  EXPECT_EQ(program.plan().steps(), 10u);
}

TEST(Program, RunsKernels) {
  for (const char *style : {"sysv", "gnu"})
    for (int threads : {1, 2, 8}) {
      Builder test;
      test.code(KERNELS "/kernels-" + std::string(style) + ".so");
      uint32_t x = test.variable("x", {1000}), y = test.variable("y", {1000}),
               z = test.variable("z", {1000}),
               choice = test.variable("choice", {}, artifact::DType::i32);
      test.add(Builder::launch(test.kernel("pick", 1000, {4000, 4000, 4}),
                               {*Builder::var(x), *Builder::var(y), *Builder::var(choice)}));
      test.add(Builder::launch(test.kernel("twice", 1000, {4000, 4000}, 4),
                               {*Builder::var(y), *Builder::var(z)}));
      Program program(test.file(), {.threads = threads});
      EXPECT_EQ(program.threads(), threads);
      for (int i = 0; i < 1000; ++i)
        floats(program, x)[i] = i;
      *reinterpret_cast<int *>(program.variables()[choice].data) = 1;
      for (int round = 0; round < 20; ++round) {
        step(program);
        for (int i = 0; i < 1000; ++i)
          ASSERT_EQ(floats(program, z)[i], 2 * (i + 2));
      }
    }
}

TEST(Program, FlushesSubnormals) {
  Builder test;
  test.code(KERNELS "/kernels-gnu.so");
  uint32_t x = test.variable("x", {64}), y = test.variable("y", {64});
  test.add(Builder::launch(test.kernel("subnormal", 64, {256, 256}),
                           {*Builder::var(x), *Builder::var(y)}));
  Program program(test.file(), {.threads = 2});
  for (int i = 0; i < 64; ++i)
    floats(program, x)[i] = 1e-12f;
  step(program);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(floats(program, y)[i], 0);
}

TEST(Program, RunsProducts) {
  Builder test;
  uint32_t a = test.variable("a", {6, 4}), b = test.variable("b", {5, 4}),
           c = test.variable("c", {6, 5}), bias = test.variable("bias", {5});
  artifact::ProductT product;
  product.batch = 1, product.m = 6, product.n = 5, product.k = 4;
  product.a = Builder::var(a), product.a_batch = 24, product.a_row = 4, product.a_column = 1;
  product.b = Builder::var(b), product.b_batch = 20, product.b_row = 1, product.b_column = 4;
  product.c = Builder::var(c), product.c_batch = 30, product.c_row = 5;
  product.bias = Builder::var(bias);
  product.tile_batch = 1, product.tile_m = 4, product.tile_n = 5;
  test.add(product);
  product.bias = nullptr;
  product.accumulate = true;
  test.add(product);
  Program program(test.file(), {.threads = 2});
  EXPECT_GE(program.threadScratch(), libraryScratch(program.plan()));
  for (int i = 0; i < 24; ++i)
    floats(program, a)[i] = i;
  for (int i = 0; i < 20; ++i)
    floats(program, b)[i] = i % 3;
  for (int i = 0; i < 5; ++i)
    floats(program, bias)[i] = 100 * i;
  step(program);
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 5; ++column) {
      float sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += (row * 4 + k) * ((column * 4 + k) % 3);
      EXPECT_EQ(floats(program, c)[row * 5 + column], 2 * sum + 100 * column);
    }
}

static artifact::ConvolutionT smallConvolution(uint32_t x, uint32_t w, uint32_t y) {
  artifact::ConvolutionT convolution;
  convolution.images = 4, convolution.channels = 1, convolution.height = convolution.width = 3;
  convolution.filters = 2, convolution.kernel_height = convolution.kernel_width = 3;
  convolution.stride_h = convolution.stride_w = 1;
  convolution.padding_h = convolution.padding_w = 1;
  convolution.input = Builder::var(x), convolution.weight = Builder::var(w),
  convolution.output = Builder::var(y);
  convolution.tile_images = 3;
  return convolution;
}

TEST(Program, RunsConvolutions) {
  Builder test;
  uint32_t x = test.variable("x", {4, 1, 3, 3}), w = test.variable("w", {2, 1, 3, 3}),
           y = test.variable("y", {4, 2, 3, 3}), g = test.variable("g", {2, 1, 3, 3}),
           partials = test.variable("partials", {2, 18});
  test.add(smallConvolution(x, w, y));
  artifact::ConvolutionT gradient = smallConvolution(x, g, y);
  gradient.kind = artifact::ConvolutionKind::backward_weight;
  gradient.partials = Builder::var(partials);
  test.add(gradient);
  Program program(test.file(), {.threads = 2});
  for (int i = 0; i < 36; ++i)
    floats(program, x)[i] = 1;
  for (int i = 0; i < 18; ++i)
    floats(program, w)[i] = i < 9 ? 1 : 2;
  step(program);
  EXPECT_EQ(floats(program, y)[3 * 18 + 4], 9);              // the last image's centre
  EXPECT_EQ(floats(program, y)[3 * 18 + 9], 8);              // a corner of the second filter
  EXPECT_EQ(floats(program, g)[4], 4 * (9 + 4 * 6 + 4 * 4)); // all outputs of the first filter
}

TEST(Program, RepeatsWithStrides) {
  Builder test;
  test.code(KERNELS "/kernels-gnu.so");
  uint32_t x = test.variable("x", {5, 8}), y = test.variable("y", {5, 8}),
           order = test.variable("order", {5}, artifact::DType::i32),
           ordinal = test.variable("ordinal", {}, artifact::DType::i32);
  artifact::RepeatT repeat;
  repeat.count = 5;
  repeat.ordinal = Builder::var(ordinal);
  repeat.body.push_back(Builder::action(Builder::launch(
      test.kernel("addTwo", 8, {32, 32}), {*Builder::var(x, 0, 32), *Builder::var(y, 0, 32)})));
  repeat.body.push_back(
      Builder::action(Builder::copy(Builder::var(ordinal), Builder::var(order, 0, 4), 4)));
  test.add(std::move(repeat));
  Program program(test.file(), {.threads = 2});
  program.trace(100);
  for (int i = 0; i < 40; ++i)
    floats(program, x)[i] = i;
  step(program);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(floats(program, y)[i], i + 2);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(reinterpret_cast<int *>(program.variables()[order].data)[i], i);
  std::vector<Trace::Event> events = program.trace()->events();
  ASSERT_EQ(events.size(), 11u);
  EXPECT_EQ(events[9].action, 2u);
  EXPECT_EQ(events[9].round, 4u);
  EXPECT_EQ(events[10].action, 0u);
  EXPECT_LE(events[10].start, events[0].start);
}

TEST(Program, CopiesAndFills) {
  Builder test;
  const int64_t size = 1 << 20;
  uint32_t x = test.variable("x", {size}, artifact::DType::u8),
           y = test.variable("y", {size}, artifact::DType::u8);
  test.add(Builder::fill(Builder::var(y), size, 7));
  test.add(Builder::copy(Builder::var(x), Builder::var(y, 1), size - 1));
  test.add(Builder::copy(Builder::var(y), Builder::var(y, 2), 100)); // onto itself, shifted
  Program program(test.file(), {.threads = 2});
  std::byte *from = program.variables()[x].data, *to = program.variables()[y].data;
  for (int64_t i = 0; i < size; ++i)
    from[i] = std::byte(i % 251);
  step(program);
  std::vector<std::byte> want(size, std::byte(7));
  std::copy(from, from + size - 1, want.begin() + 1);
  std::memmove(&want[2], &want[0], 100);
  EXPECT_EQ(std::memcmp(to, want.data(), size), 0);
}

TEST(Program, PortsOfAnEntry) {
  Builder test;
  uint32_t w = test.variable("w", {4});
  artifact::EntryT &entry = test.step();
  uint32_t in = test.buffer(entry, 16, 0, 0), out = test.buffer(entry, 16, 0, 1);
  entry.inputs.push_back(Builder::port("x", artifact::PortKind::input, Builder::buf(in), {4}));
  entry.outputs.push_back(Builder::port("loss", artifact::PortKind::sum, Builder::buf(out, 8), {}));
  test.add(Builder::copy(Builder::buf(in), Builder::buf(out), 16));
  test.add(Builder::copy(Builder::buf(out), Builder::var(w), 16));
  for (bool poison : {false, true}) {
    Program program(test.file(), {.poison = poison});
    const artifact::Entry &plan = *program.entry("step");
    auto *x = reinterpret_cast<float *>(program.port(plan, *plan.inputs()->Get(0)));
    for (int i = 0; i < 4; ++i)
      x[i] = i + 1;
    program.run(plan);
    EXPECT_EQ(floats(program, w)[3], 4);
    EXPECT_EQ(*reinterpret_cast<float *>(program.port(plan, *plan.outputs()->Get(0))), 3);
    EXPECT_EQ(std::isnan(x[0]), poison); // dead since the first action
  }
}

// A repeat's carried buffer stays, its inner one is poisoned in every round; a read of a dead byte
// shows as NaN.
TEST(Program, PoisonShowsDeadReads) {
  for (bool fault : {false, true}) {
    Builder test;
    uint32_t x = test.variable("x", {}), y = test.variable("y", {});
    uint32_t ordinal = test.variable("ordinal", {}, artifact::DType::i32);
    artifact::EntryT &entry = test.step();
    uint32_t carried = test.buffer(entry, 4, 0, 3), inner = test.buffer(entry, 4, 2, 3);
    uint32_t after = test.bufferAt(entry, entry.buffers[inner]->offset, 4, 4, 4);
    test.add(Builder::copy(Builder::var(x), Builder::buf(carried), 4));
    artifact::RepeatT repeat;
    repeat.count = 3;
    repeat.ordinal = Builder::var(ordinal);
    repeat.body.push_back(
        Builder::action(Builder::copy(Builder::buf(carried), Builder::buf(inner), 4)));
    repeat.body.push_back(Builder::action(Builder::copy(Builder::buf(inner), Builder::var(y), 4)));
    test.add(std::move(repeat));
    if (fault) // reads what nothing has written
      test.add(Builder::copy(Builder::buf(after), Builder::var(y), 4));
    else
      test.add(Builder::fill(Builder::buf(after), 4, 0));
    Program plain(test.file(), {}), poisoned(test.file(), {.poison = true});
    for (Program *program : {&plain, &poisoned}) {
      *floats(*program, x) = 3;
      step(*program);
      step(*program);
    }
    EXPECT_EQ(*floats(plain, y), 3);
    EXPECT_EQ(std::isnan(*floats(poisoned, y)), fault);
  }
}

/// Notes the calls, and what the variable holds at each.
class Noting : public Observer {
public:
  explicit Noting(const std::byte *value) : value(value) {}
  void before(const ActionPlace &place) override { note('<', place); }
  void after(const ActionPlace &place) override { note('>', place); }
  std::string text;

private:
  void note(char side, const ActionPlace &place) {
    text += std::to_string(place.entry) + "." + std::to_string(place.action) + "." +
            std::to_string(place.round) + side + std::to_string(int(*value)) + " ";
  }
  const std::byte *value;
};

TEST(Program, AnObserverSeesEveryAction) {
  Builder test;
  uint32_t x = test.variable("x", {}, artifact::DType::u8),
           ordinal = test.variable("ordinal", {}, artifact::DType::i32);
  test.add(Builder::fill(Builder::var(x), 1, 1));
  artifact::RepeatT repeat;
  repeat.count = 2;
  repeat.ordinal = Builder::var(ordinal);
  repeat.body.push_back(Builder::action(Builder::copy(Builder::var(ordinal), Builder::var(x), 1)));
  test.add(std::move(repeat));
  Program program(test.file(), {});
  Noting noting(program.arena().data() + program.plan().variables()->Get(x)->offset());
  program.observe(&noting);
  step(program);
  EXPECT_EQ(noting.text, "1.0.0<0 1.0.0>1 1.1.0<1 1.2.0<1 1.2.0>0 1.2.1<0 1.2.1>1 1.1.0>1 ");
  program.observe(nullptr);
  noting.text.clear();
  step(program);
  EXPECT_EQ(noting.text, "");
}

TEST(Program, WhatAnObserverThrowsEndsTheRun) {
  struct Refusing : Observer {
    void before(const ActionPlace &) override {}
    void after(const ActionPlace &) override { throw Failure(Exit::internal, "enough"); }
  } refusing;
  Builder test;
  uint32_t x = test.variable("x", {2}, artifact::DType::u8);
  test.add(Builder::fill(Builder::var(x), 1, 1));
  test.add(Builder::fill(Builder::var(x, 1), 1, 1));
  Program program(test.file(), {});
  program.observe(&refusing);
  EXPECT_THROW(step(program), Failure);
  EXPECT_EQ(program.variables()[x].data[0], std::byte(1));
  EXPECT_EQ(program.variables()[x].data[1], std::byte(0));
}

static void expectFailure(const Builder &test, Exit exit, const std::string &part) {
  try {
    Program program(test.file(), {});
    ADD_FAILURE() << "loaded";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, exit);
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

TEST(Program, SaysWhyItCannotLoad) {
  Builder test;
  test.program.target = "x86-64-v9";
  expectFailure(test, Exit::model, "the target 'x86-64-v9' is unknown");
  if (cpu::nativeLevel() < "x86-64-v4") {
    test.program.target = "x86-64-v4";
    expectFailure(test, Exit::model, "needs a CPU of level x86-64-v4");
  }
  test = Builder();
  test.program.arena = uint64_t(1) << 40;
  expectFailure(test, Exit::device, "1048576.0 MiB are needed");
  test = Builder();
  test.code(KERNELS "/kernels-gnu.so");
  test.kernel("absent", 1, {});
  expectFailure(test, Exit::model, "no kernel 'absent'");
  test.program.code.resize(100);
  expectFailure(test, Exit::model, "machine code cannot be loaded");
}
