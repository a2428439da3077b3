//===- DeviceTest.cpp - What every device does ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One suite for all rows of runtime/devices/Devices.cpp. A device that computes nothing skips what
// is about results.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Program.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include "test/runtime/core/TestProgram.h"
#include "test/runtime/core/Values.h"
#include <cmath>
#include <gtest/gtest.h>

namespace weir {

static void PrintTo(const DeviceKind &kind, std::ostream *out) { *out << kind.name; }

namespace {

using Builder = TestProgram;

class EveryDevice : public ::testing::TestWithParam<DeviceKind> {
protected:
  void SetUp() override {
    try {
      Builder any;
      any.variable("w", {1});
      load(any);
    } catch (const Failure &failure) {
      if (failure.exit == Exit::device)
        GTEST_SKIP() << "there is no such device here: " << failure.what();
      throw;
    }
  }
  Program load(const Builder &test, ProgramOptions options = {.device = {.threads = 2}}) {
    return Program(test.file(), GetParam().make, options);
  }
  static void step(Program &program) { program.run(*program.entry("step")); }
};

TEST_P(EveryDevice, BeginsWithZeros) {
  Builder test;
  uint32_t w = test.variable("w", {1000});
  Program program = load(test);
  EXPECT_EQ(values<float>(program, w), std::vector<float>(1000, 0));
}

TEST_P(EveryDevice, KeepsWhatIsWrittenInParts) {
  Builder test;
  test.variable("before", {3}, artifact::DType::u8);
  uint32_t w = test.variable("w", {100}, artifact::DType::u8);
  Program program = load(test);
  const TensorView &view = program.variables()[w];
  std::vector<std::byte> some(40, std::byte(5));
  view.write(30, some);
  std::vector<std::byte> read(50);
  view.read(25, read);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(read[i], std::byte(i >= 5 && i < 45 ? 5 : 0)) << i;
}

TEST_P(EveryDevice, HandsOutWhatThePortsHold) {
  Builder test;
  artifact::EntryT &entry = test.step();
  uint32_t in = test.buffer(entry, 16, 0, 0), out = test.buffer(entry, 16, 0, 0);
  entry.inputs.push_back(Builder::port("x", artifact::PortKind::input, Builder::buf(in), {4}));
  entry.outputs.push_back(
      Builder::port("y", artifact::PortKind::tensor, Builder::buf(out, 8), {2}));
  test.add(Builder::copy(Builder::buf(in), Builder::buf(out), 16));
  Program program = load(test);
  const artifact::Entry &plan = *program.entry("step");
  for (float shift : {0.0f, 10.0f}) {
    std::vector<float> x = {1 + shift, 2 + shift, 3 + shift, 4 + shift}, y(2);
    program.write(plan, *plan.inputs()->Get(0), std::as_bytes(std::span(x)));
    program.run(plan);
    program.read(plan, *plan.outputs()->Get(0), std::as_writable_bytes(std::span(y)));
    EXPECT_EQ(y, (std::vector<float>{3 + shift, 4 + shift}));
  }
}

TEST_P(EveryDevice, CopiesAsIfAtOnce) {
  Builder test;
  const int64_t size = 3 << 20; // several tasks
  uint32_t x = test.variable("x", {size}, artifact::DType::u8);
  test.add(Builder::copy(Builder::var(x), Builder::var(x, 1), size - 1));
  Program program = load(test);
  std::vector<uint8_t> before(size), after;
  for (int64_t i = 0; i < size; ++i)
    before[i] = i % 251;
  set(program, x, before);
  step(program);
  after = before;
  std::copy(before.begin(), before.end() - 1, after.begin() + 1);
  EXPECT_EQ(values<uint8_t>(program, x), after);
}

/// Forwards, backwards, in turns and by the loop around; the round is where the plan says.
TEST_P(EveryDevice, TurnsLoopsInLoops) {
  Builder test;
  uint32_t from = test.variable("from", {6}, artifact::DType::i32),
           to = test.variable("to", {6}, artifact::DType::i32),
           turns = test.variable("turns", {2}, artifact::DType::i32),
           outer = test.variable("outer", {}, artifact::DType::i32),
           inner = test.variable("inner", {}, artifact::DType::i32);
  auto copy = Builder::copy(Builder::var(from, 20), Builder::var(to), 4);
  copy->moves = {{0, 0, 0, -12}, {0, 1, 0, -4}, {1, 0, 0, 12}, {1, 1, 0, 4}};
  auto turn = Builder::copy(Builder::var(inner), Builder::var(turns), 4);
  turn->moves = {{1, 1, 2, 4}};
  test.add(Builder::loop(2, Builder::var(outer),
                         Builder::loop(3, Builder::var(inner), std::move(copy), std::move(turn))));
  Program program = load(test);
  set<int32_t>(program, from, {0, 1, 2, 3, 4, 5});
  for (int again = 0; again < 2; ++again) {
    step(program);
    EXPECT_EQ(values<int32_t>(program, to), (std::vector<int32_t>{5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(values<int32_t>(program, turns), (std::vector<int32_t>{2, 1}));
  }
}

/// A transfer queue fills one half of a buffer while queue 0 empties the other.
TEST_P(EveryDevice, KeepsTheOrderOfQueuesAndEvents) {
  Builder test;
  test.device().queues = 2;
  uint32_t from = test.variable("from", {8}), to = test.variable("to", {8}),
           round = test.variable("round", {}, artifact::DType::i32);
  artifact::EntryT &entry = test.step();
  entry.events = 2;
  uint32_t halves = test.buffer(entry, 128, 0, 8);
  auto event = [](auto work, uint32_t number, uint32_t queue) {
    work.event = number;
    auto action = Builder::action(std::move(work), {});
    action->queue = queue;
    return action;
  };
  Operand half = Builder::buf(halves, 0, 64);
  half.modulus = 2;
  auto fill = Builder::copy(Builder::var(from, 0, 8), half, 8);
  fill->queue = 1;
  test.add(event(artifact::RecordT(), 0, 0));
  test.add(event(artifact::WaitT(), 0, 1));
  test.add(Builder::loop(4, Builder::var(round), std::move(fill), event(artifact::RecordT(), 1, 1),
                         event(artifact::WaitT(), 1, 0),
                         Builder::copy(half, Builder::var(to, 24, -8), 8),
                         event(artifact::WaitT(), 0, 1), event(artifact::RecordT(), 0, 0)));
  Program program = load(test);
  set<float>(program, from, {0, 1, 2, 3, 4, 5, 6, 7});
  step(program);
  EXPECT_EQ(values<float>(program, to), (std::vector<float>{6, 7, 4, 5, 2, 3, 0, 1}));
}

/// What lies with the host is fetched on one queue, put back on another, and lasts.
TEST_P(EveryDevice, FetchesAndPutsWhatLiesWithTheHost) {
  constexpr int64_t count = 40000;
  for (auto [poison, folder] : {std::pair(false, ""), {true, ""}, {false, "/tmp"}}) {
    if (*folder && (GetParam().name == "cuda" || GetParam().name == "emulated"))
      continue;
    Builder test;
    test.device().queues = 3;
    uint32_t x = test.hosts("x", count), y = test.hosts("y", count);
    uint32_t z = test.variable("z", {count});
    artifact::EntryT &entry = test.step();
    entry.events = 4;
    uint32_t fetched = test.buffer(entry, 4 * count, 2, 10);
    auto on = [](uint32_t queue, std::unique_ptr<artifact::ActionT> action) {
      action->queue = queue;
      return action;
    };
    auto event = [&](auto work, uint32_t number, uint32_t queue) {
      work.event = number;
      return on(queue, Builder::action(std::move(work), {}));
    };
    test.add(event(artifact::RecordT(), 0, 0));
    test.add(event(artifact::WaitT(), 0, 1));
    test.add(on(1, Builder::copy(Builder::var(x), Builder::buf(fetched), 4 * count)));
    test.add(event(artifact::RecordT(), 1, 1));
    test.add(event(artifact::WaitT(), 1, 0));
    test.add(Builder::copy(Builder::buf(fetched), Builder::var(z), 4 * count));
    test.add(event(artifact::RecordT(), 2, 0));
    test.add(event(artifact::WaitT(), 2, 2));
    test.add(on(2, Builder::copy(Builder::buf(fetched), Builder::var(y), 4 * count)));
    test.add(event(artifact::RecordT(), 3, 2));
    test.add(event(artifact::WaitT(), 3, 0));
    Program program =
        load(test, {.device = {.threads = 2, .poison = poison, .offloadFolder = folder}});
    EXPECT_EQ(values<float>(program, y), std::vector<float>(count, 0));
    for (float shift : {0.f, 7.f}) {
      std::vector<float> numbers(count);
      for (int64_t i = 0; i < count; ++i)
        numbers[i] = float(i) + shift;
      set<float>(program, x, numbers);
      step(program);
      EXPECT_EQ(values<float>(program, y), numbers);
      EXPECT_EQ(values<float>(program, z), numbers);
      EXPECT_EQ(values<float>(program, x), numbers);
    }
  }
}

TEST_P(EveryDevice, OnlyCopiesReachWhatLiesWithTheHost) {
  Builder test;
  uint32_t x = test.hosts("x", 16), y = test.hosts("y", 16);
  test.add(Builder::copy(Builder::var(x), Builder::var(y), 64));
  try {
    load(test);
    ADD_FAILURE() << "loaded";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
    EXPECT_NE(std::string(failure.what()).find("works on the host's memory"), std::string::npos)
        << failure.what();
  }
}

// What the host writes next does not reach the run before, whose outputs it reads meanwhile.
TEST_P(EveryDevice, CopiesBetweenTheHostsMemoryAndItsOwn) {
  for (bool poison : {false, true}) {
    Builder test;
    test.variable("w", {1});
    artifact::EntryT &entry = test.step();
    test.device().pinned = 128;
    uint32_t middle = test.buffer(entry, 16, 0, 1), in = test.bufferAt(entry, 0, 16, 0, 1),
             out = test.bufferAt(entry, 64, 16, 0, 1);
    entry.buffers[in]->space = entry.buffers[out]->space = artifact::Space::pinned;
    entry.inputs.push_back(Builder::port("x", artifact::PortKind::input, Builder::buf(in), {4}));
    entry.outputs.push_back(Builder::port("y", artifact::PortKind::tensor, Builder::buf(out), {4}));
    test.add(Builder::copy(Builder::buf(in), Builder::buf(middle), 16));
    test.add(Builder::copy(Builder::buf(middle), Builder::buf(out), 16));
    Program program = load(test, {.device = {.threads = 2, .poison = poison}});
    const artifact::Entry &plan = *program.entry("step");
    std::vector<Ticket> runs;
    int ahead = program.facts().ahead;
    auto give = [&](float value) {
      std::vector<float> x(4, value);
      program.write(plan, *plan.inputs()->Get(0), std::as_bytes(std::span(x)));
      runs.push_back(program.start(plan));
    };
    for (int step = 0; step < ahead; ++step)
      give(float(step));
    for (int step = 0; step < 5; ++step) {
      give(float(step + ahead));
      program.finish(runs[step]);
      std::vector<float> y(4);
      program.read(plan, *plan.outputs()->Get(0), std::as_writable_bytes(std::span(y)));
      EXPECT_EQ(y, std::vector<float>(4, float(step)));
    }
  }
}

TEST_P(EveryDevice, PoisonsWhatIsDead) {
  Builder test;
  uint32_t x = test.variable("x", {}), y = test.variable("y", {});
  uint32_t round = test.variable("round", {}, artifact::DType::i32);
  artifact::EntryT &entry = test.step();
  uint32_t carried = test.buffer(entry, 4, 0, 3), inner = test.buffer(entry, 4, 2, 3);
  test.add(Builder::copy(Builder::var(x), Builder::buf(carried), 4));
  test.add(Builder::loop(3, Builder::var(round),
                         Builder::copy(Builder::buf(carried), Builder::buf(inner), 4),
                         Builder::copy(Builder::buf(inner), Builder::var(y), 4)));
  Program program = load(test, {.device = {.threads = 2, .poison = true}});
  set<float>(program, x, {3});
  step(program);
  EXPECT_EQ(values<float>(program, y)[0], 3);
  float dead;
  program.readArena(test.step().buffers[carried]->offset,
                    std::as_writable_bytes(std::span(&dead, 1)));
  EXPECT_TRUE(std::isnan(dead));
}

TEST_P(EveryDevice, TracesEveryActionOnce) {
  Builder test;
  uint32_t x = test.variable("x", {}), y = test.variable("y", {}),
           round = test.variable("round", {}, artifact::DType::i32);
  test.add(Builder::copy(Builder::var(x), Builder::var(y), 4));
  test.add(
      Builder::loop(3, Builder::var(round), Builder::copy(Builder::var(x), Builder::var(y), 4)));
  Program program = load(test);
  program.trace(100);
  step(program);
  std::vector<Trace::Event> events = program.trace()->events();
  ASSERT_EQ(events.size(), 5u);
  std::vector<std::pair<uint32_t, uint32_t>> found; // by action and round
  for (const Trace::Event &event : events) {
    EXPECT_EQ(event.entry, 1u);
    EXPECT_LE(event.start, event.end);
    found.emplace_back(event.action, event.round);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found,
            (std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}));
  program.trace(0);
  step(program);
  EXPECT_EQ(program.trace(), nullptr);
}

/// Notes the calls, and what a variable holds at each.
class Noting : public Observer {
public:
  Noting(const TensorView &variable, int patience) : variable(variable), patience(patience) {}
  void before(const ActionPlace &place) override { note('<', place); }
  void after(const ActionPlace &place) override { note('>', place); }
  std::string text;

private:
  void note(char side, const ActionPlace &place) {
    std::byte value;
    variable.read(0, {&value, 1});
    text += std::to_string(place.action) + "." + std::to_string(place.round) + side +
            std::to_string(int(value)) + " ";
    if (--patience == 0)
      throw Failure(Exit::internal, "enough");
  }
  const TensorView &variable;
  int patience;
};

TEST_P(EveryDevice, ShowsAnObserverEveryAction) {
  Builder test;
  uint32_t x = test.variable("x", {}, artifact::DType::u8),
           one = test.variable("one", {}, artifact::DType::u8),
           round = test.variable("round", {}, artifact::DType::i32);
  test.add(Builder::copy(Builder::var(one), Builder::var(x), 1));
  test.add(Builder::loop(2, Builder::var(round),
                         Builder::copy(Builder::var(round), Builder::var(x), 1)));
  Program program = load(test);
  set<uint8_t>(program, one, {1});
  Noting all(program.variables()[x], 100), impatient(program.variables()[x], 5);
  program.observe(&all);
  step(program);
  EXPECT_EQ(all.text, "0.0<0 0.0>1 1.0<1 2.0<1 2.0>0 2.1<0 2.1>1 1.0>1 ");
  // What it throws ends the run, and the next one begins anew.
  program.observe(&impatient);
  EXPECT_THROW(step(program), Failure);
  EXPECT_EQ(impatient.text, "0.0<1 0.0>1 1.0<1 2.0<1 2.0>0 ");
  program.observe(nullptr);
  step(program);
  EXPECT_EQ(values<uint8_t>(program, x)[0], 1);
}

TEST_P(EveryDevice, ServesLibraryCalls) {
  Builder test;
  uint32_t a = test.variable("a", {2, 3}), b = test.variable("b", {3, 2}),
           c = test.variable("c", {2, 2});
  spec::Product product;
  product.m = product.n = 2, product.k = 3;
  product.aRow = 3, product.bRow = 2, product.cRow = 2, product.aColumn = product.bColumn = 1;
  product.tileM = product.tileN = 2;
  test.add(Builder::call(product, {Builder::var(a), Builder::var(b), Builder::var(c)}));
  Program program = load(test);
  set<float>(program, a, {1, 2, 3, 4, 5, 6});
  set<float>(program, b, {1, 0, 0, 1, 1, 1});
  step(program);
  if (GetParam().name == "null") {
    EXPECT_EQ(values<float>(program, c), std::vector<float>(4, 0)); // left as it was
    GTEST_SKIP() << "the null device computes nothing";
  }
  EXPECT_EQ(values<float>(program, c), (std::vector<float>{4, 5, 10, 11}));
}

TEST(Devices, ATargetOfNoDeviceIsNamed) {
  Builder test;
  test.device().target = "quantum";
  try {
    Program program(test.file(), makeDevice, {});
    ADD_FAILURE() << "loaded";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
    EXPECT_NE(std::string(failure.what()).find("unknown target 'quantum'"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryDevice, ::testing::ValuesIn(deviceKinds()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace weir
