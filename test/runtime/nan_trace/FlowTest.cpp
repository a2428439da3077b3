//===- FlowTest.cpp -------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/Devices.h"
#include "runtime/nan_trace/OriginObserver.h"
#include "test/runtime/core/TestProgram.h"
#include <cmath>
#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr float big = 3e38f;

/// Steps over tensors of four numbers, whose loss is the tensor "loss".
class FlowOf : public ::testing::Test {
protected:
  FlowOf() { test.code(KERNELS "/nan_trace.so"); }

  Operand tensor(const std::string &name) { return TestProgram::var(test.variable(name, {4})); }
  /// A kernel of two operands and a result.
  void add(const std::string &symbol, Operand a, Operand b, Operand result, int infinities = 0) {
    test.add(launch(symbol, a, b, result, infinities));
  }
  TestProgram::Action launch(const std::string &symbol, Operand a, Operand b, Operand result,
                             int infinities = 0) {
    auto [found, isNew] = kernels.try_emplace(symbol);
    if (isNew) {
      found->second = test.kernel(symbol, 4, {16, 16, 16}, {2});
      artifact::KernelT &made = *test.program.kernels[found->second];
      for (int i = 0; i < 3; ++i) {
        made.tensors.push_back(std::make_unique<artifact::TensorTypeT>());
        made.tensors.back()->shape = {4};
      }
      made.infinities = static_cast<uint8_t>(infinities);
    }
    return TestProgram::launch(found->second, {a, b, result});
  }
  void output(Operand loss) {
    // Of its first number; what is noted of the flow is of whole tensors.
    test.step().outputs.push_back(TestProgram::port("loss", artifact::PortKind::scalar, loss, {}));
  }
  void start(const std::vector<std::pair<Operand, std::vector<float>>> &values) {
    program.emplace(test.file(), makeDevice, ProgramOptions{.device = {.threads = 1}});
    for (const auto &[operand, numbers] : values)
      program->variables()[operand.ref.index()].write(0, std::as_bytes(std::span(numbers)));
  }
  /// The action that the origin of a run is; -1 of what was there before, -2 of nothing.
  int origin() {
    const artifact::Entry &step = *program->entry("step");
    flow.emplace(*program, step);
    program->run(step);
    std::optional<size_t> found = flow->origin();
    if (!found)
      return -2;
    number = *found;
    place = flow->source(*found).place;
    return place ? static_cast<int>(place->action) : -1;
  }
  std::string told() {
    std::vector<std::string> lines;
    if (place) {
      OriginObserver observer(*program, flow->actions, *place, nullptr);
      program->run(*program->entry("step"));
      lines = tellMade(*flow, number, observer);
    } else {
      lines = tellGiven(*flow, number);
    }
    std::string text;
    for (const std::string &line : lines)
      text += line + "\n";
    return text;
  }

  TestProgram test;
  std::map<std::string, uint32_t> kernels;
  std::optional<Program> program;
  std::optional<Flow> flow;
  std::optional<ActionPlace> place;
  size_t number = 0;
};

TEST_F(FlowOf, AnOverflow) {
  Operand x = tensor("x"), y = tensor("y"), z = tensor("z");
  add("add", x, x, y);
  add("add", y, y, z);
  output(z);
  start({{x, {1, 2, big, -4}}});
  EXPECT_EQ(origin(), 0);
  EXPECT_NE(told().find("is computed by action 0 of 2, launch of add, map\n  it writes the "
                        "parameter 'y': 1 inf of 4 elements, the first at [2]; "),
            std::string::npos)
      << told();
  EXPECT_NE(told().find("it reads the parameter 'x': 4 elements, all finite, from -4 to "),
            std::string::npos);
  start({{x, {1, 2, 3, -4}}});
  EXPECT_EQ(origin(), -2);
}

TEST_F(FlowOf, WhatWasThere) {
  Operand x = tensor("x"), y = tensor("y");
  add("add", x, x, y);
  output(y);
  start({{x, {1, NAN, 2, 3}}});
  EXPECT_EQ(origin(), -1);
  EXPECT_EQ(told(), "existed before the step began, in the parameter 'x'\n  it has 1 nan of 4 "
                    "elements, the first at [1]; the others from 1 to 3, magnitudes from 1 to 3, "
                    "mean 2\n  it is first read by action 0 of 1, launch of add, map\n");
}

TEST_F(FlowOf, AnInfinityThatDoesNoHarm) {
  // 1 / (1 + inf) is 0; 0 / 0 is made behind it.
  Operand x = tensor("x"), y = tensor("y"), z = tensor("z"), w = tensor("w"), one = tensor("one");
  add("add", x, x, y);
  add("squashed", y, one, z);
  add("quotient", z, z, w);
  output(w);
  start({{x, {big, 0, 0, 0}}, {one, {1, 1, 1, 1}}});
  EXPECT_EQ(origin(), 2);
}

TEST_F(FlowOf, AMaskIsNotBlamed) {
  // A row that is masked beside an overflow: of the two infinities one is a constant.
  Operand x = tensor("x"), y = tensor("y"), mask = tensor("mask"), z = tensor("z"), w = tensor("w"),
          one = tensor("one");
  add("masked", one, mask, z, 2);
  add("add", x, x, y);
  add("add", y, z, w);
  output(w);
  start({{x, {big, 0, 0, 0}}, {mask, {0, 1, 1, 1}}, {one, {1, 1, 1, 1}}});
  EXPECT_EQ(origin(), 1);
}

TEST_F(FlowOf, ANaNOfAMaskAlone) {
  Operand mask = tensor("mask"), z = tensor("z"), w = tensor("w"), one = tensor("one");
  add("masked", one, mask, z, 2);
  add("quotient", z, z, w);
  output(w);
  start({{mask, {0, 1, 1, 1}}, {one, {1, 1, 1, 1}}});
  EXPECT_EQ(origin(), 1);
  EXPECT_NE(told().find("the infinities that it reads are computed by action 0 of 2"),
            std::string::npos)
      << told();
  // The same without a constant that says so is an accident.
  test.program.kernels[0]->infinities = 1;
  start({{mask, {0, 1, 1, 1}}, {one, {1, 1, 1, 1}}});
  EXPECT_EQ(origin(), 0);
}

TEST_F(FlowOf, TheRoundOfALoop) {
  // In place: 1e38 doubled twice is too large for an f32.
  Operand x = tensor("x"), sum = tensor("sum"),
          round = TestProgram::var(test.variable("round", {}, artifact::DType::i32));
  auto action = launch("add", sum, x, sum);
  test.add(TestProgram::loop(5, round, std::move(action)));
  output(sum);
  start({{x, {1e38f, 0, 0, 0}}});
  EXPECT_EQ(origin(), 1);
  EXPECT_EQ(place->round, 3u);
  start({{x, {1e38f, 0, 0, 0}}});
  origin();
  EXPECT_NE(flow->actions.describe(*place).find(", in round 4 of 5"), std::string::npos);
}

TEST_F(FlowOf, CountsOfAnUpdate) {
  Operand x = tensor("x"), n = tensor("n");
  add("count", x, x, n);
  artifact::KernelT &kernel = *test.program.kernels[0];
  kernel.counts = {2};
  kernel.tasks = 1;
  start({{x, {big, big, 0, 0}}});
  EXPECT_EQ(origin(), 0);
  EXPECT_NE(told().find("the number of non-finite elements of an update, 2"), std::string::npos)
      << told();
  start({{x, {1, 2, 0, 0}}});
  EXPECT_EQ(origin(), -2);
}

TEST_F(FlowOf, CopiesAndCalls) {
  Operand x = tensor("x"), y = tensor("y"), z = tensor("z"), w = tensor("w");
  test.add(TestProgram::copy(x, y, 16));
  spec::Product product;
  product.m = product.n = product.k = 2;
  product.aBatch = product.bBatch = product.cBatch = 4;
  product.aRow = product.bRow = product.cRow = 2;
  product.aColumn = product.bColumn = 1;
  product.tileM = product.tileN = 2;
  test.add(TestProgram::call(product, {y, y, z}));
  test.add(TestProgram::copy(z, w, 16));
  output(w);
  start({{x, {big, 1, 1, 1}}});
  EXPECT_EQ(origin(), 1);
  EXPECT_NE(told().find("product 2x2x2\n  it computes matmul\n"), std::string::npos) << told();
  start({{x, {NAN, 1, 1, 1}}});
  EXPECT_EQ(origin(), -1);
}

} // namespace
} // namespace weir
