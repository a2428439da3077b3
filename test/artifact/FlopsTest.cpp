//===- FlopsTest.cpp - FLOPs and bytes of entries, by line ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Flops.h"
#include "test/runtime/core/TestProgram.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::artifact;
using Builder = TestProgram;

namespace {

spec::Product product(int64_t m, int64_t n, int64_t k) {
  spec::Product product;
  product.m = product.tileM = m, product.n = product.tileN = n, product.k = k;
  product.tileBatch = 1;
  product.aRow = k, product.aColumn = 1;
  product.bRow = n, product.bColumn = 1, product.cRow = n;
  return product;
}

/// A kernel of a product and a tanh on lines 3 and 4, in three rounds with a library's product of
/// lines 5 and 6; then a copy of 10 bytes, of no line.
struct Flops : testing::Test {
  Builder test;
  std::vector<std::byte> file;

  void SetUp() override {
    uint32_t w = test.variable("w", {64, 64});
    uint32_t round = test.variable("step", {}, DType::i32, Role::run);
    uint32_t y = test.buffer(test.step(), 4096, 0, 3);
    uint32_t k = test.kernel("k", 4, {4096, 4096}, {1});
    test.code(std::vector<uint8_t>(64, 0));
    KernelT &kernel = *test.program.kernels[k];
    kernel.ops = {"matmul", "tanh"};
    kernel.flops = 100, kernel.bytes = 33;
    kernel.op_flops = {{90, 80}, {10, 0}};
    auto launch = Builder::launch(k, {Builder::var(w), Builder::buf(y)});
    launch->locations = {Location(0, 3, 1), Location(0, 4, 1)};
    launch->lines = {0, 1};
    auto call =
        Builder::call(product(2, 3, 4), {Builder::var(w), Builder::var(w, 64), Builder::buf(y)});
    call->locations = {Location(0, 5, 1), Location(0, 6, 1)};
    test.add(Builder::loop(3, Builder::var(round), std::move(launch), std::move(call)));
    test.add(Builder::copy(Builder::var(w), Builder::buf(y), 10));
    test.step().model_flops = 70;
    test.step().model_lines = {{Location(0, 3, 9), 60}, {Location(), 10}};
  }

  const artifact::Program &program() {
    file = test.file();
    return verify(file);
  }
};

TEST_F(Flops, LoopsCountAsOftenAsTheyGoRound) {
  const artifact::Program &plan = program();
  Executed all = executedBy(plan, *plan.entries()->Get(1));
  EXPECT_EQ(all.products, 3 * (80u + 48u));
  EXPECT_EQ(all.flops, 3 * (100u + 48u));
  EXPECT_EQ(all.bytes, 3 * (33u + 4 * (8 + 12 + 6)));
  EXPECT_EQ(all.copied, 20u);
  EXPECT_TRUE(all.known);
}

TEST_F(Flops, LinesAreTheEntry) {
  const artifact::Program &plan = program();
  std::map<ModelLine, LineWork> lines = workByLine(plan, *plan.entries()->Get(1));
  ASSERT_EQ(lines.size(), 5u);
  auto expect = [&](uint32_t line, double model, Executed work) {
    const LineWork &found = lines.at({0, line});
    EXPECT_EQ(found.model, model) << line;
    EXPECT_EQ(found.executed.products, work.products) << line;
    EXPECT_EQ(found.executed.flops, work.flops) << line;
    EXPECT_EQ(found.executed.bytes, work.bytes) << line;
    EXPECT_EQ(found.executed.copied, work.copied) << line;
  };
  expect(3, 60, {.products = 240, .flops = 270, .bytes = 3 * 17});
  expect(4, 0, {.flops = 30, .bytes = 3 * 16});
  expect(5, 0, {.products = 144, .flops = 144, .bytes = 3 * 52});
  expect(6, 0, {.bytes = 3 * 52});
  expect(0, 10, {.copied = 20});
}

TEST_F(Flops, WhatIsRecomputedIsOfTheFirstLine) {
  KernelT &kernel = *test.program.kernels[0];
  kernel.flops += 7, kernel.recomputed_flops = 7;
  const artifact::Program &plan = program();
  const Entry &entry = *plan.entries()->Get(1);
  EXPECT_EQ(executedBy(plan, entry).flops, 3 * (107u + 48u));
  std::map<ModelLine, LineWork> lines = workByLine(plan, entry);
  EXPECT_EQ(lines.at({0, 3}).executed.flops, 3 * (90u + 7u));
  EXPECT_EQ(lines.at({0, 4}).executed.flops, 30u);
}

TEST_F(Flops, AFileOfBeforeDoesNotSayWhatItsKernelsMultiply) {
  test.program.kernels[0]->op_flops.clear();
  test.step().model_flops.reset();
  test.step().model_lines.clear();
  const artifact::Program &plan = program();
  const Entry &entry = *plan.entries()->Get(1);
  EXPECT_FALSE(executedBy(plan, entry).known);
  EXPECT_EQ(executedBy(plan, entry).flops, 3 * (100u + 48u));
  EXPECT_EQ(workByLine(plan, entry).at({0, 3}).executed.flops, 300u);
  EXPECT_FALSE(workByLine(plan, entry).at({0, 3}).executed.known);
}

TEST_F(Flops, WhatIsMultiplied) {
  auto ofStep = [](const artifact::Program &plan) { return multipliedBy(plan, "step"); };
  EXPECT_EQ(ofStep(program()), Element::f32);
  test.step().buffers[0]->last = 4;
  spec::Product low = product(4, 6, 8);
  low.factors = Element::bf16;
  test.add(Builder::call(low, {Builder::var(0), Builder::var(0, 512), Builder::buf(0)}));
  EXPECT_EQ(ofStep(program()), Element::bf16);
}

/// Stages are several programs, and the first may multiply little.
TEST_F(Flops, WhatOtherRanksMultiply) {
  auto stage = [](uint64_t rank, int64_t size, Element factors) {
    Builder test;
    test.program.mesh = "pp=2";
    test.program.rank = rank;
    uint32_t w = test.variable("w", {64, 64});
    spec::Product factor = product(size, size, size);
    factor.factors = factors;
    test.add(
        Builder::call(factor, {Builder::var(w), Builder::var(w, 4096), Builder::var(w, 8192)}));
    return test;
  };
  Builder first = stage(0, 4, Element::f32), second = stage(1, 8, Element::bf16);
  first.program.others.push_back(std::make_unique<artifact::ProgramT>(std::move(second.program)));
  first.program.program_of = {0, 1};
  file = first.file();
  EXPECT_EQ(multipliedBy(verify(file), "step"), Element::bf16);
  EXPECT_EQ(executedByAll(verify(file), "step").products, 2 * 4 * 4 * 4 + 2 * 8 * 8 * 8);
}

/// Llama 405B with 8.4 million tokens a step: 2.0e19, where 64 bits count to 1.8e19.
TEST_F(Flops, OfAModelCanExceed64Bits) {
  test.step().model_flops = 2e19 + 1e16;
  test.step().model_lines = {{Location(0, 3, 9), 2e19}, {Location(), 1e16}};
  const artifact::Program &plan = program();
  std::map<ModelLine, LineWork> lines = workByLine(plan, *plan.entries()->Get(1));
  EXPECT_EQ(lines.at({0, 3}).model, 2e19);
  EXPECT_EQ(lines.at({0, 0}).model, 1e16);
}

} // namespace
