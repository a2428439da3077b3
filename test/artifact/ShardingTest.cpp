//===- ShardingTest.cpp - Artifacts of several ranks ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Sharding.h"
#include "artifact/Reader.h"
#include "support/Error.h"
#include "test/runtime/core/TestProgram.h"
#include <functional>
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// Rank `rank` of three that have 5 rows together, and gather them.
TestProgram ofRank(int64_t rank) {
  TestProgram test;
  test.program.mesh = "dp=3";
  test.program.rank = uint64_t(rank);
  int64_t own = rank == 2 ? 1 : 2;
  uint32_t part = test.variable("part", {own}), all = test.variable("all", {5});
  test.program.variables[part]->shape = {5};
  test.program.variables[part]->layout = "5@dp";
  artifact::CollectiveT gather;
  gather.axis = "dp";
  gather.bytes = {8, 8, 4};
  gather.own = uint64_t(4 * own);
  test.add(TestProgram::action(std::move(gather), {TestProgram::var(part), TestProgram::var(all)}));
  return test;
}

TestProgram ofAll() {
  TestProgram test = ofRank(0);
  test.program.others.push_back(std::make_unique<artifact::ProgramT>(std::move(ofRank(2).program)));
  test.program.program_of = {0, 0, 1};
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

TEST(Sharding, EachRankHasItsProgram) {
  TestProgram test = ofAll();
  std::vector<std::byte> bytes = test.file();
  const artifact::Program &program = artifact::verify(bytes);
  Mesh mesh = artifact::meshOf(program);
  EXPECT_EQ(mesh.ranks(), 3);
  EXPECT_EQ(artifact::programOf(program, 1).rank(), 0u);
  EXPECT_EQ(artifact::programOf(program, 2).rank(), 2u);
  EXPECT_EQ(artifact::layoutOf(mesh, *program.variables()->Get(0)).text(mesh), "5@dp");
  EXPECT_EQ(artifact::layoutOf(mesh, *program.variables()->Get(1)).text(mesh), "5");
}

TEST(Sharding, WhatDoesNotAgreeIsRefused) {
  using Change = std::function<void(artifact::ProgramT &)>;
  auto gather = [](artifact::ProgramT &program) -> artifact::CollectiveT & {
    return *program.entries[1]->actions[0]->work.AsCollective();
  };
  for (auto &[words, change] : std::initializer_list<std::pair<const char *, Change>>{
           {"nothing follows the last comma", [](auto &p) { p.mesh = "dp=3,"; }},
           {"there is no rank 3", [](auto &p) { p.rank = 3; }},
           {"it has several ranks and no mesh", [](auto &p) { p.mesh = ""; }},
           {"dp=2 does not divide dp=3", [](auto &p) { p.hosts = "dp=2"; }},
           {"nothing follows the last comma", [](auto &p) { p.hosts = "dp=3,"; }},
           {"of another mesh", [](auto &p) { p.hosts = "dp=3"; }},
           {"not of each which program", [](auto &p) { p.program_of.pop_back(); }},
           {"a program that is not there", [](auto &p) { p.program_of[0] = 2; }},
           {"nobody runs its other programs", [](auto &p) { p.program_of.clear(); }},
           {"nobody runs its program 1", [](auto &p) { p.program_of = {0, 0, 0}; }},
           {"is no plain text",
            [](auto &p) {
              p.placements.push_back(std::make_unique<artifact::PlacementT>());
              p.placements[0]->what = "\n";
            }},
           {"the placement of 'matmul'",
            [](auto &p) {
              p.placements.push_back(std::make_unique<artifact::PlacementT>());
              p.placements[0]->what = "matmul";
              p.placements[0]->location = std::make_unique<artifact::Location>(99, 1, 1);
            }},
           {"of another mesh", [](auto &p) { p.others[0]->mesh = "tp=3"; }},
           {"a rank's program is for another device",
            [](auto &p) { p.others[0]->devices[0]->target = "x86-64-v4"; }},
           {"other variables than another rank: the variable 'x' of rank 2",
            [](auto &p) { p.others[0]->variables[1]->name = "x"; }},
           {"other entries than another rank",
            [](auto &p) {
              p.others[0]->entries[0]->name = "eval";
              p.others[0]->entries.push_back(std::make_unique<artifact::EntryT>());
              p.others[0]->entries.back()->name = "init";
            }},
           {"its layout is of another", [](auto &p) { p.variables[0]->layout = "5@tp"; }},
           {"its layout is of another", [](auto &p) { p.variables[0]->layout = "6@dp"; }},
           {"its layout is of another", [](auto &p) { p.variables[0]->layout = "5 +dp"; }},
           {"its shape needs 20 bytes, it has 8", [](auto &p) { p.variables[0]->layout = ""; }},
           {"collective that another member does not have",
            [](auto &p) { p.others[0]->entries[1]->actions.clear(); }},
           {"other type than another member",
            [&](auto &p) { gather(*p.others[0]).dtype = artifact::DType::i32; }},
           {"and rank 2 in all_gather over dp, collective 2; rank 2 has no collective 1",
            [&](auto &p) {
              gather(p).number = 1;
              gather(*p.others[0]).number = 2;
            }},
           {"its element type is number 99",
            [&](auto &p) { gather(p).dtype = artifact::DType(99); }},
           {"a member has a part of an element", [&](auto &p) { gather(p).bytes[2] = 2; }},
           {"shares overlap: rank 2 has 2 places of 5",
            [](auto &p) {
              p.program_of[2] = 0;
              p.others.clear();
            }},
           {"part of a tensor that no rank has: rank 1 has 1 places of 5",
            [](auto &p) { p.program_of[1] = 1; }},
           {"rank 0 runs another program", [](auto &p) { p.program_of[0] = 1; }},
           {"rank 0 runs another program", [](auto &p) { p.rank = 1; }},
           {"its axis 'tp' is none of the mesh", [&](auto &p) { gather(p).axis = "tp"; }},
           {"it shifts what members have more of than others",
            [&](auto &p) { gather(p).kind = artifact::CollectiveKind::shift; }},
           {"not as many sizes as members", [&](auto &p) { gather(p).bytes.pop_back(); }},
           {"a member has nothing", [&](auto &p) { gather(p).bytes[2] = 0; }},
           {"its own size is not this rank's", [&](auto &p) { gather(p).own = 4; }},
       }) {
    TestProgram test = ofAll();
    change(test.program);
    EXPECT_NE(verify(test).find(words), std::string::npos) << words << "; " << verify(test);
  }
}
