//===- ProgramTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include "support/system/CpuLevel.h"
#include "test/runtime/core/TestProgram.h"
#include "test/runtime/core/Values.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace weir;
using Builder = TestProgram;

static std::vector<float> floats(const Program &program, uint32_t variable) {
  return values<float>(program, variable);
}

/// As many numbers, each made of its index.
template <class Make> static std::vector<float> made(int count, Make make) {
  std::vector<float> all(count);
  for (int i = 0; i < count; ++i)
    all[i] = make(i);
  return all;
}

static void step(Program &program) { program.run(*program.entry("step")); }

TEST(Program, ListsVariablesAndEntries) {
  Builder test;
  test.variable("w", {3, 5});
  test.variable("step", {}, artifact::DType::i32, artifact::Role::run);
  Program program(test.file(), makeDevice, {});
  ASSERT_EQ(program.variables().size(), 2u);
  EXPECT_EQ(program.variables()[0].name, "w");
  EXPECT_EQ(program.variables()[0].shape, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(program.variables()[0].size, 60u);
  EXPECT_EQ(program.variables()[1].role, artifact::Role::run);
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
      test.add(Builder::launch(test.kernel("pick", 1000, {4000, 4000, 4}, {1}),
                               {Builder::var(x), Builder::var(y), Builder::var(choice)}));
      test.add(Builder::launch(test.kernel("twice", 1000, {4000, 4000}, {1}, 4),
                               {Builder::var(y), Builder::var(z)}));
      Program program(test.file(), makeDevice, {.device = {.threads = threads}});
      EXPECT_EQ(program.facts().name,
                std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
      set(program, x, made(1000, [](int i) { return i; }));
      set<int32_t>(program, choice, {1});
      for (int round = 0; round < 20; ++round) {
        step(program);
        ASSERT_EQ(floats(program, z), made(1000, [](int i) { return 2 * (i + 2); }));
      }
    }
}

TEST(Program, FlushesSubnormals) {
  Builder test;
  test.code(KERNELS "/kernels-gnu.so");
  uint32_t x = test.variable("x", {64}), y = test.variable("y", {64});
  test.add(Builder::launch(test.kernel("subnormal", 64, {256, 256}, {1}),
                           {Builder::var(x), Builder::var(y)}));
  Program program(test.file(), makeDevice, {.device = {.threads = 2}});
  set(program, x, std::vector<float>(64, 1e-12f));
  step(program);
  EXPECT_EQ(floats(program, y), std::vector<float>(64, 0));
}

TEST(Program, RunsProducts) {
  Builder test;
  uint32_t a = test.variable("a", {6, 4}), b = test.variable("b", {5, 4}),
           c = test.variable("c", {6, 5}), d = test.variable("d", {6, 5}),
           bias = test.variable("bias", {5});
  spec::Product product;
  product.m = 6, product.n = 5, product.k = 4;
  product.aBatch = 24, product.aRow = 4, product.aColumn = 1;
  product.bBatch = 20, product.bRow = 1, product.bColumn = 4;
  product.cBatch = 30, product.cRow = 5;
  product.tileM = 4, product.tileN = 5;
  product.bias = true;
  test.add(Builder::call(product,
                         {Builder::var(a), Builder::var(b), Builder::var(c), Builder::var(bias)}));
  product.bias = false, product.relu = true;
  test.add(Builder::call(product, {Builder::var(a), Builder::var(b), Builder::var(d)}));
  Program program(test.file(), makeDevice, {.device = {.threads = 2}});
  set(program, a, made(24, [](int i) { return i; }));
  set(program, b, made(20, [](int i) { return i % 3 - 1; }));
  set(program, bias, made(5, [](int i) { return 100 * i; }));
  step(program);
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 5; ++column) {
      float sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += (row * 4 + k) * ((column * 4 + k) % 3 - 1);
      EXPECT_EQ(floats(program, c)[row * 5 + column], sum + 100 * column);
      EXPECT_EQ(floats(program, d)[row * 5 + column], std::max(sum, 0.0f));
    }
}

TEST(Program, RunsConvolutions) {
  Builder test;
  uint32_t x = test.variable("x", {4, 1, 3, 3}), w = test.variable("w", {2, 1, 3, 3}),
           y = test.variable("y", {4, 2, 3, 3}), g = test.variable("g", {2, 1, 3, 3}),
           partials = test.variable("partials", {2, 18});
  test.device().thread_scratch = 1 << 20; // for the library
  spec::Convolution convolution;
  convolution.images = 4, convolution.channels = 1, convolution.filters = 2;
  convolution.size = convolution.window = {3, 3};
  convolution.strides = convolution.padding = convolution.dilation = {1, 1};
  convolution.tileImages = 3;
  test.add(Builder::call(convolution, {Builder::var(x), Builder::var(w), Builder::var(y)}));
  convolution.computes = spec::ConvolutionKind::backwardWeight;
  test.add(Builder::call(
      convolution, {Builder::var(x), Builder::var(g), Builder::var(y), Builder::var(partials)}));
  Program program(test.file(), makeDevice, {.device = {.threads = 2}});
  set(program, x, std::vector<float>(36, 1));
  set(program, w, made(18, [](int i) { return i < 9 ? 1 : 2; }));
  step(program);
  EXPECT_EQ(floats(program, y)[3 * 18 + 4], 9);              // the last image's centre
  EXPECT_EQ(floats(program, y)[3 * 18 + 9], 8);              // a corner of the second filter
  EXPECT_EQ(floats(program, g)[4], 4 * (9 + 4 * 6 + 4 * 4)); // all outputs of the first filter
}

TEST(Program, RunsMaxPooling) {
  Builder test;
  uint32_t x = test.variable("x", {3, 3, 4}), y = test.variable("y", {3, 1, 2});
  test.device().thread_scratch = 1 << 20; // for the library
  spec::Pooling pooling;
  pooling.planes = 3, pooling.tilePlanes = 2;
  pooling.size = {3, 4}, pooling.window = {3, 2}, pooling.strides = {1, 2};
  test.add(Builder::call(pooling, {Builder::var(x), Builder::var(y)}));
  Program program(test.file(), makeDevice, {.device = {.threads = 2}});
  set(program, x, made(36, [](int i) { return i % 7; }));
  step(program);
  EXPECT_EQ(floats(program, y), (std::vector<float>{5, 6, 6, 5, 5, 6}));
}

TEST(Program, LoopsWithStrides) {
  Builder test;
  test.code(KERNELS "/kernels-gnu.so");
  uint32_t x = test.variable("x", {5, 8}), y = test.variable("y", {5, 8}),
           order = test.variable("order", {5}, artifact::DType::i32),
           round = test.variable("round", {}, artifact::DType::i32);
  test.add(Builder::loop(5, Builder::var(round),
                         Builder::launch(test.kernel("addTwo", 8, {32, 32}, {1}),
                                         {Builder::var(x, 0, 32), Builder::var(y, 0, 32)}),
                         Builder::copy(Builder::var(round), Builder::var(order, 0, 4), 4)));
  Program program(test.file(), makeDevice, {.device = {.threads = 2}});
  program.trace(100);
  set(program, x, made(40, [](int i) { return i; }));
  step(program);
  EXPECT_EQ(floats(program, y), made(40, [](int i) { return i + 2; }));
  EXPECT_EQ(values<int32_t>(program, order), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  std::vector<Trace::Event> events = program.trace()->events();
  ASSERT_EQ(events.size(), 11u);
  EXPECT_EQ(events[9].action, 2u);
  EXPECT_EQ(events[9].round, 4u);
  EXPECT_EQ(events[10].action, 0u);
  EXPECT_LE(events[10].start, events[0].start);
}

TEST(Program, SumsWithoutEvents) {
  Builder test;
  uint32_t x = test.variable("x", {5}), y = test.variable("y", {5}),
           round = test.variable("round", {}, artifact::DType::i32);
  test.add(Builder::loop(5, Builder::var(round),
                         Builder::copy(Builder::var(x, 0, 4), Builder::var(y, 0, 4), 4)));
  test.add(Builder::copy(Builder::var(y), Builder::var(x), 20));
  for (size_t capacity : {0, 3}) {
    Program program(test.file(), makeDevice, {.device = {.threads = 2}});
    program.trace(capacity, /*sums=*/true);
    step(program);
    step(program);
    EXPECT_EQ(program.trace()->events().size(), capacity);
    EXPECT_EQ(program.trace()->total(), 14u);
    const Trace::Sums &sums = program.trace()->sums(1);
    ASSERT_EQ(sums.size(), 3u);
    EXPECT_EQ(sums[0].runs, 2u);
    EXPECT_EQ(sums[1].runs, 10u);
    EXPECT_EQ(sums[2].runs, 2u);
    EXPECT_GT(sums[1].time, 0);
    EXPECT_GE(sums[0].time, sums[1].time);
    EXPECT_TRUE(program.trace()->sums(0).empty()) << "init has no actions";
    program.trace(0);
    EXPECT_EQ(program.trace(), nullptr);
  }
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
    Program program(test.file(), makeDevice, {.device = {.poison = poison}});
    const artifact::Entry &plan = *program.entry("step");
    std::vector<float> x = {1, 2, 3, 4};
    program.write(plan, *plan.inputs()->Get(0), std::as_bytes(std::span(x)));
    program.run(plan);
    EXPECT_EQ(floats(program, w)[3], 4);
    float loss = 0;
    program.read(plan, *plan.outputs()->Get(0), std::as_writable_bytes(std::span(&loss, 1)));
    EXPECT_EQ(loss, 3);
    program.read(plan, *plan.inputs()->Get(0), std::as_writable_bytes(std::span(x)));
    EXPECT_EQ(std::isnan(x[0]), poison); // dead since the first action
  }
}

static void expectFailure(const Builder &test, Exit exit, const std::string &part) {
  try {
    Program program(test.file(), makeDevice, {});
    ADD_FAILURE() << "loaded";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, exit);
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

TEST(Program, ALibraryThatWantsMoreScratchThanIsStatedIsRefused) {
  Builder test;
  uint32_t x = test.variable("x", {4, 16, 9, 9}), w = test.variable("w", {16, 16, 3, 3}),
           y = test.variable("y", {4, 16, 9, 9});
  spec::Convolution convolution;
  convolution.images = 4, convolution.channels = convolution.filters = 16;
  convolution.size = {9, 9}, convolution.window = {3, 3};
  convolution.strides = convolution.padding = convolution.dilation = {1, 1};
  convolution.tileImages = 4;
  test.add(Builder::call(convolution, {Builder::var(x), Builder::var(w), Builder::var(y)}));
  expectFailure(test, Exit::model, "bytes of scratch per thread, the artifact states 0");
}

TEST(Program, SaysWhyItCannotLoad) {
  Builder test;
  test.device().target = "x86-64-v9";
  expectFailure(test, Exit::model, "the target 'x86-64-v9' is unknown");
  if (cpuLevel() < "x86-64-v4") {
    test.device().target = "x86-64-v4";
    expectFailure(test, Exit::model, "needs a CPU of level x86-64-v4");
  }
  test = Builder();
  test.device().arena = uint64_t(1) << 40;
  expectFailure(test, Exit::device, "1048576.0 MiB are needed");
  test = Builder();
  test.code(KERNELS "/kernels-gnu.so");
  test.kernel("absent", 1, {});
  expectFailure(test, Exit::model, "no kernel 'absent'");
  test.program.blobs[0]->bytes.resize(100);
  expectFailure(test, Exit::model, "machine code cannot be loaded");
}
