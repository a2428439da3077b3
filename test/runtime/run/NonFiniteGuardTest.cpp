//===- NonFiniteGuardTest.cpp - What must not get into a checkpoint -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/NonFiniteGuard.h"
#include "test/runtime/LocalGroup.h"
#include "test/runtime/checkpoint/MeshPrograms.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace weir;

namespace {

const std::vector<MeshVariable> cut = {{"table", {6, 8}, "6@dp 8@tp"},
                                       {"bias", {5}, ""},
                                       {"moment", {6, 8}, "6 8@tp@dp", artifact::Role::optimizer}};

/// Ones, but for what `place` puts somewhere.
void fill(const Program &program, const std::string &name, size_t place, float value) {
  for (const TensorView &variable : program.variables()) {
    std::vector<float> numbers(variable.size / sizeof(float), 1.0f);
    if (variable.name == name)
      numbers[place] = value;
    variable.write(0, std::as_bytes(std::span(numbers)));
  }
}

/// What is said of variables that turn out so in a run, one of which was given so.
std::string told(const std::string &mesh, Group *group, const std::string &name, size_t place,
                 float value) {
  std::vector<MeshVariable> variables = cut;
  for (MeshVariable &variable : variables)
    variable.layout = mesh.empty() ? "" : variable.layout;
  std::unique_ptr<Program> program = loaded(mesh, variables, group);
  NonFiniteGuard guard(group);
  fill(*program, "moment", 17, -INFINITY);
  NonFiniteGuard::Given given = guard.begin(program->variables(), {"table"});
  fill(*program, name, place, value);
  return given.kept.value_or("") + "; " + guard.broken(program->variables()).value_or("whole") +
         "; " + largestValue(program->variables(), group);
}

} // namespace

/// What a stage writes is in its own program.
TEST(NonFiniteGuard, WhatAStepWritesOnSomeRank) {
  auto stage = [](uint64_t rank) {
    TestProgram test;
    test.program.mesh = "pp=2";
    test.program.rank = rank;
    for (const char *name : {"first", "second", "read"})
      test.variable(name, {4});
    test.add(TestProgram::copy(TestProgram::var(2), TestProgram::var(uint32_t(rank)), 16));
    return test;
  };
  TestProgram both = stage(0);
  both.program.others.push_back(std::make_unique<artifact::ProgramT>(std::move(stage(1).program)));
  both.program.program_of = {0, 1};
  std::vector<std::byte> file = both.file();
  EXPECT_EQ(writtenVariables(artifact::verify(file), "step"),
            (std::set<std::string>{"first", "second"}));
}

/// Each looks at a part, and all say what one device would.
TEST(NonFiniteGuard, RanksSayTheSameAsOneDevice) {
  for (auto &[name, place, value] :
       std::vector<std::tuple<std::string, size_t, float>>{{"table", 0, NAN},
                                                           {"table", 47, INFINITY},
                                                           {"bias", 3, -INFINITY},
                                                           {"moment", 40, NAN},
                                                           {"table", 13, -7.0f},
                                                           {"bias", 4, 7.0f}}) {
    std::string alone = told("", nullptr, name, place, value);
    auto failures =
        LocalGroups(4).run([&, name = name, place = place, value = value](Group &group) {
          EXPECT_EQ(told("dp=2,tp=2", &group, name, place, value), alone);
        });
    EXPECT_EQ(failures, std::vector<std::string>(4));
  }
  EXPECT_EQ(
      told("", nullptr, "table", 13, -7.0f),
      "'moment' is -inf at [2, 1]; whole; the largest finite value is -7, in 'table' at [1, 5]");
  EXPECT_EQ(told("", nullptr, "bias", 3, NAN),
            "'moment' is -inf at [2, 1]; 'bias' is nan at [3]; the largest finite value is 1, in "
            "'table' at [0, 0]");
}
