//===- ReplicasTest.cpp - Whether ranks have the same copies --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/Replicas.h"
#include "test/runtime/LocalGroup.h"
#include "test/runtime/checkpoint/MeshPrograms.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

void fill(const TensorView &variable, std::byte value) {
  std::vector<std::byte> bytes(variable.size, std::byte(1));
  bytes.back() = value;
  variable.write(0, bytes);
}

/// What is found where the last byte of a variable is another on one process, "" for none.
std::string found(const std::string &mesh, const std::vector<MeshVariable> &variables,
                  const std::string &name, int64_t process) {
  std::vector<std::string> said(size_t(processesOf(mesh)));
  auto failures = LocalGroups(processesOf(mesh)).run([&](Group &group) {
    std::unique_ptr<Program> program = loaded(mesh, variables, &group);
    for (const TensorView &variable : program->variables())
      fill(variable, std::byte(variable.name == name && group.rank() == process ? 2 : 1));
    said[size_t(group.rank())] = differingReplicas(*program, &group);
  });
  for (size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(failures[i], "");
    EXPECT_EQ(said[i], said[0]);
  }
  return said[0];
}

const std::vector<MeshVariable> onFour = {
    {"bias", {5}, ""},
    {"rows", {6, 8}, "6@dp 8"},
    {"columns", {5, 8}, "5 8@tp"},
    {"shards", {6, 8}, "6@dp 8@tp", artifact::Role::optimizer},
    {"step", {}, "", artifact::Role::run, artifact::DType::i32}};

} // namespace

TEST(Replicas, EqualOnesAreEqual) {
  EXPECT_EQ(found("dp=2,tp=2", onFour, "", 0), "");
  std::unique_ptr<Program> all = loaded("dp=2,tp=2", onFour);
  EXPECT_EQ(differingReplicas(*all, nullptr), "");
  EXPECT_EQ(differingReplicas(*loaded("", {{"bias", {5}}}), nullptr), "");
}

/// The last byte is that of the last share: of what is cut, only its ranks have it.
TEST(Replicas, TheRanksThatShareAreCompared) {
  EXPECT_EQ(found("dp=2,tp=2", onFour, "bias", 2),
            "the copy of 'bias' on rank 2 differs from those on ranks 0, 1, 3");
  EXPECT_EQ(found("dp=2,tp=2", onFour, "step", 0),
            "the copy of 'step' on rank 0 differs from those on ranks 1, 2, 3");
  EXPECT_EQ(found("dp=2,tp=2", onFour, "rows", 3), "the copies of 'rows' on ranks 2, 3 differ");
  EXPECT_EQ(found("dp=2,tp=2", onFour, "columns", 3),
            "the copies of 'columns' on ranks 1, 3 differ");
}

TEST(Replicas, WhatNobodyElseHasIsNotCompared) {
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(found("dp=2,tp=2", onFour, "shards", rank), "");
  EXPECT_EQ(found("dp=2,tp=2", onFour, "rows", 0), ""); // it has not that byte
  EXPECT_EQ(found("pp=2", {{"first", {4}, "4 on pp=0"}, {"last", {4}, "4 on pp=1"}}, "last", 1),
            "");
}

TEST(Replicas, StagesHaveTheirOwn) {
  EXPECT_EQ(found("pp=2,dp=2", {{"last", {4}, "4 on pp=1"}}, "last", 3),
            "the copies of 'last' on ranks 2, 3 differ");
}

/// A process with several ranks has several copies.
TEST(Replicas, OfBlocksOfRanks) {
  EXPECT_EQ(found("dp=4,tp=2 on dp=2", {{"w", {6, 8}, "6 8@tp"}}, "w", 1),
            "the copies of 'w' on ranks 1, 3, 5, 7 differ");
  EXPECT_EQ(found("dp=4,tp=2 on dp=2", {{"w", {8, 6}, "8@dp 6"}}, "w", 1), "");
}

TEST(Replicas, LargeOnesInBlocks) {
  EXPECT_EQ(found("dp=2", {{"w", {3, mostStaged / 4}, ""}}, "w", 1),
            "the copies of 'w' on ranks 0, 1 differ");
}

TEST(Replicas, SeveralAreCounted) {
  LocalGroups(2).run([&](Group &group) {
    std::unique_ptr<Program> program =
        loaded("dp=2", {{"a", {2}, ""}, {"b", {2}, ""}, {"c", {2}, "2@dp"}}, &group);
    for (const TensorView &variable : program->variables())
      fill(variable, std::byte(group.rank()));
    EXPECT_EQ(differingReplicas(*program, &group),
              "the copies of 'a' on ranks 0, 1 differ, and so do those of 1 other tensor");
  });
}
