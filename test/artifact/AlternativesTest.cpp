//===- AlternativesTest.cpp - Artifacts for several meshes ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Alternatives.h"
#include "artifact/Reader.h"
#include "support/Error.h"
#include "test/runtime/core/TestProgram.h"
#include <functional>
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// Of that mesh, on each rank of which a variable lies whole.
TestProgram on(const std::string &mesh) {
  TestProgram test;
  test.program.mesh = mesh;
  test.variable("weight", {5});
  return test;
}

TestProgram ofThree() {
  TestProgram test = on("dp=4");
  for (const char *mesh : {"dp=2", "dp=1"})
    test.program.alternatives.push_back(
        std::make_unique<artifact::ProgramT>(std::move(on(mesh).program)));
  return test;
}

std::string verify(TestProgram &test) {
  std::vector<std::byte> bytes = test.file();
  try {
    artifact::verify(bytes);
  } catch (const Failure &failure) {
    return failure.what();
  }
  return "";
}

} // namespace

TEST(Alternatives, AreFoundByTheirProcesses) {
  TestProgram test = ofThree();
  std::vector<std::byte> bytes = test.file();
  const artifact::Program &program = artifact::verify(bytes);
  std::vector<std::string> meshes;
  for (const Mesh &mesh : artifact::meshesOf(program))
    meshes.push_back(mesh.text());
  EXPECT_EQ(meshes, (std::vector<std::string>{"dp=4", "dp=2", "dp=1"}));
  EXPECT_EQ(artifact::programFor(program, 4), &program);
  EXPECT_EQ(artifact::programFor(program, 2), program.alternatives()->Get(0));
  EXPECT_EQ(artifact::programFor(program, 1), program.alternatives()->Get(1));
  EXPECT_EQ(artifact::programFor(program, 3), nullptr);
  EXPECT_EQ(artifact::programFor(program, 0), nullptr);
}

TEST(Alternatives, OneWithoutThemIsItsOwn) {
  TestProgram test = on("dp=4");
  std::vector<std::byte> bytes = test.file();
  const artifact::Program &program = artifact::verify(bytes);
  EXPECT_EQ(artifact::alternativesOf(program), std::vector{&program});
}

TEST(Alternatives, WhatIsNone) {
  using Change = std::function<void(artifact::ProgramT &)>;
  for (auto &[words, change] : std::vector<std::pair<const char *, Change>>{
           {"two have as many processes", [](auto &p) { p.mesh = "dp=2,tp=1"; }},
           {"two have as many processes", [](auto &p) { p.mesh = "tp=4"; }},
           {"two have as many processes",
            [](auto &p) {
              p.mesh = "dp=8";
              p.hosts = "dp=4";
            }},
           {"several meshes itself",
            [](auto &p) {
              p.alternatives.push_back(
                  std::make_unique<artifact::ProgramT>(std::move(on("dp=8").program)));
            }},
           {"they are of several models", [](auto &p) { p.model = "another"; }},
           {"they are of several models", [](auto &p) { p.training_digest = 7; }},
           {"they are of several models", [](auto &p) { p.master = artifact::DType::bf16; }},
           {"they are of several models", [](auto &p) { p.loss_scale = "1024"; }},
           {"they are for several devices", [](auto &p) { p.devices[0]->target = "x86-64-v4"; }},
           {"they have several recipes", [](auto &p) { p.batch = 2; }},
           {"they have several recipes", [](auto &p) { p.steps = 11; }},
           {"they have other variables", [](auto &p) { p.variables[0]->name = "bias"; }},
           {"they have other variables",
            [](auto &p) { p.variables[0]->role = artifact::Role::state; }},
           {"they have other variables",
            [](auto &p) {
              p.variables[0]->shape = {4};
              p.variables[0]->size = 16;
            }},
           {"they have other variables", [](auto &p) { p.variables.clear(); }},
           {"its shape needs 20 bytes", [](auto &p) { p.variables[0]->size = 16; }},
           {"'step' is missing", [](auto &p) { p.entries.pop_back(); }},
           {"there is no rank 9", [](auto &p) { p.rank = 9; }},
       }) {
    TestProgram test = ofThree();
    change(*test.program.alternatives[1]);
    EXPECT_NE(verify(test).find(words), std::string::npos) << words << "; " << verify(test);
  }
  TestProgram many = on("dp=64");
  for (int ranks = 1; ranks < 65; ++ranks)
    if (ranks != 64)
      many.program.alternatives.push_back(std::make_unique<artifact::ProgramT>(
          std::move(on("dp=" + std::to_string(ranks)).program)));
  EXPECT_EQ(verify(many), "");
  many.program.alternatives.push_back(
      std::make_unique<artifact::ProgramT>(std::move(on("dp=65").program)));
  EXPECT_NE(verify(many).find("there are too many"), std::string::npos);
}

TEST(Alternatives, ScalarsOfTheRunMayDiffer) {
  TestProgram test = ofThree();
  TestProgram other = on("dp=8");
  other.variable("step", {}, artifact::DType::i32, artifact::Role::run);
  test.program.alternatives.push_back(
      std::make_unique<artifact::ProgramT>(std::move(other.program)));
  EXPECT_EQ(verify(test), "");
}
