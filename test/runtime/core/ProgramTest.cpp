//===- ProgramTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "runtime/base/Error.h"
#include "runtime/cpu/Isa.h"
#include "runtime/devices/Devices.h"
#include "test/runtime/core/TestProgram.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace weir;
using Builder = TestProgram;

template <class Element>
static std::vector<Element> values(const Program &program, uint32_t variable) {
  const TensorView &view = program.variables()[variable];
  std::vector<Element> all(view.size / sizeof(Element));
  view.read(0, std::as_writable_bytes(std::span(all)));
  return all;
}

template <class Element>
static void set(const Program &program, uint32_t variable, const std::vector<Element> &all) {
  program.variables()[variable].write(0, std::as_bytes(std::span(all)));
}

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
      Program program(test.file(), makeDevice, {.threads = threads});
      EXPECT_EQ(program.facts().threads, threads);
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
  Program program(test.file(), makeDevice, {.threads = 2});
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
  Program program(test.file(), makeDevice, {.threads = 2});
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
  Program program(test.file(), makeDevice, {.threads = 2});
  set(program, x, std::vector<float>(36, 1));
  set(program, w, made(18, [](int i) { return i < 9 ? 1 : 2; }));
  step(program);
  EXPECT_EQ(floats(program, y)[3 * 18 + 4], 9);              // the last image's centre
  EXPECT_EQ(floats(program, y)[3 * 18 + 9], 8);              // a corner of the second filter
  EXPECT_EQ(floats(program, g)[4], 4 * (9 + 4 * 6 + 4 * 4)); // all outputs of the first filter
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
  Program program(test.file(), makeDevice, {.threads = 2});
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

/// Backwards, in turns, and by the loop around.
TEST(Program, LoopsInLoops) {
  Builder test;
  uint32_t from = test.variable("from", {6}, artifact::DType::i32),
           to = test.variable("to", {6}, artifact::DType::i32),
           turns = test.variable("turns", {2}, artifact::DType::i32),
           outer = test.variable("outer", {}, artifact::DType::i32),
           inner = test.variable("inner", {}, artifact::DType::i32);
  auto both = [](uint32_t variable, int64_t offset, int64_t outward, int64_t inward) {
    Operand operand = Builder::var(variable, offset, inward);
    operand.loop = 1;
    return std::pair(operand, artifact::Move(0, 0, 0, outward));
  };
  auto [source, outward] = both(from, 20, -12, -4);
  auto copy = Builder::copy(source, Builder::var(to, 0, 12), 4);
  copy->moves.push_back(outward);
  copy->moves.push_back(artifact::Move(1, 1, 0, 4));
  Operand turn = Builder::var(turns, 0, 4);
  turn.loop = 1, turn.modulus = 2;
  test.add(Builder::loop(2, Builder::var(outer),
                         Builder::loop(3, Builder::var(inner), std::move(copy),
                                       Builder::copy(Builder::var(inner), turn, 4))));
  Program program(test.file(), makeDevice, {});
  program.trace(100);
  set<int32_t>(program, from, {0, 1, 2, 3, 4, 5});
  step(program);
  EXPECT_EQ(values<int32_t>(program, to), (std::vector<int32_t>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values<int32_t>(program, turns), (std::vector<int32_t>{2, 1}));
  uint32_t last = 0;
  for (const Trace::Event &event : program.trace()->events())
    last = std::max(last, event.round);
  EXPECT_EQ(last, 5u);
}

TEST(Program, CopiesOntoItself) {
  Builder test;
  const int64_t size = 1 << 20;
  uint32_t x = test.variable("x", {size}, artifact::DType::u8),
           y = test.variable("y", {size}, artifact::DType::u8);
  test.add(Builder::copy(Builder::var(x), Builder::var(y, 1), size - 1));
  test.add(Builder::copy(Builder::var(y), Builder::var(y, 2), 100)); // shifted
  Program program(test.file(), makeDevice, {.threads = 2});
  std::vector<uint8_t> from(size), want(size, 7);
  for (int64_t i = 0; i < size; ++i)
    from[i] = i % 251;
  set(program, x, from);
  set(program, y, want);
  step(program);
  std::copy(from.begin(), from.end() - 1, want.begin() + 1);
  std::memmove(&want[2], &want[0], 100);
  EXPECT_EQ(values<uint8_t>(program, y), want);
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
    Program program(test.file(), makeDevice, {.poison = poison});
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

// A loop's carried buffer stays, its inner one is poisoned in every round.
TEST(Program, PoisonLeavesWhatIsAlive) {
  Builder test;
  uint32_t x = test.variable("x", {}), y = test.variable("y", {});
  uint32_t round = test.variable("round", {}, artifact::DType::i32);
  artifact::EntryT &entry = test.step();
  uint32_t carried = test.buffer(entry, 4, 0, 3), inner = test.buffer(entry, 4, 2, 3);
  test.add(Builder::copy(Builder::var(x), Builder::buf(carried), 4));
  test.add(Builder::loop(3, Builder::var(round),
                         Builder::copy(Builder::buf(carried), Builder::buf(inner), 4),
                         Builder::copy(Builder::buf(inner), Builder::var(y), 4)));
  Program program(test.file(), makeDevice, {.poison = true});
  set<float>(program, x, {3});
  step(program);
  step(program);
  EXPECT_EQ(floats(program, y)[0], 3);
}

/// Notes the calls, and what the variable holds at each.
class Noting : public Observer {
public:
  explicit Noting(const TensorView &variable) : variable(variable) {}
  void before(const ActionPlace &place) override { note('<', place); }
  void after(const ActionPlace &place) override { note('>', place); }
  std::string text;

private:
  void note(char side, const ActionPlace &place) {
    std::byte value;
    variable.read(0, {&value, 1});
    text += std::to_string(place.entry) + "." + std::to_string(place.action) + "." +
            std::to_string(place.round) + side + std::to_string(int(value)) + " ";
  }
  const TensorView &variable;
};

TEST(Program, AnObserverSeesEveryAction) {
  Builder test;
  uint32_t x = test.variable("x", {}, artifact::DType::u8),
           one = test.variable("one", {}, artifact::DType::u8),
           round = test.variable("round", {}, artifact::DType::i32);
  test.add(Builder::copy(Builder::var(one), Builder::var(x), 1));
  test.add(Builder::loop(2, Builder::var(round),
                         Builder::copy(Builder::var(round), Builder::var(x), 1)));
  Program program(test.file(), makeDevice, {});
  set<uint8_t>(program, one, {1});
  Noting noting(program.variables()[x]);
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
  uint32_t x = test.variable("x", {2}, artifact::DType::u8),
           one = test.variable("one", {}, artifact::DType::u8);
  test.add(Builder::copy(Builder::var(one), Builder::var(x), 1));
  test.add(Builder::copy(Builder::var(one), Builder::var(x, 1), 1));
  Program program(test.file(), makeDevice, {});
  set<uint8_t>(program, one, {1});
  program.observe(&refusing);
  EXPECT_THROW(step(program), Failure);
  EXPECT_EQ(values<uint8_t>(program, x), (std::vector<uint8_t>{1, 0}));
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
  if (cpu::nativeLevel() < "x86-64-v4") {
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
