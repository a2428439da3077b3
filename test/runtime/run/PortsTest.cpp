//===- PortsTest.cpp - What a process reads of a batch --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Ports.h"
#include "runtime/devices/MeshDevice.h"
#include "runtime/null/NullDevice.h"
#include "test/runtime/LocalGroup.h"
#include "test/runtime/core/TestProgram.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

using Rows = std::vector<int64_t>;

/// Of a step over dp=2,tp=2 with an input of 2 microbatches of 4 rows, each of 3 numbers.
std::unique_ptr<Program> loaded(const std::string &hosts, Group *group) {
  TestProgram test;
  test.program.mesh = "dp=2,tp=2";
  test.program.hosts = hosts;
  uint32_t input = test.buffer(test.step(), 4 * 3 * 4, 0, 0);
  uint32_t output = test.buffer(test.step(), 4 * 3 * 4, 0, 0);
  auto port = TestProgram::port("x", artifact::PortKind::input, TestProgram::buf(input), {8, 3});
  port->layout = "2*4@dp 3";
  test.step().inputs.push_back(std::move(port));
  test.add(TestProgram::copy(TestProgram::buf(input), TestProgram::buf(output), 4 * 3 * 4));
  return std::make_unique<Program>(
      test.file(),
      [](const artifact::Program &program, const DeviceOptions &options) {
        return makeMeshDevice(program, options, null::makeDevice);
      },
      ProgramOptions{.device = {.group = group}, .entriesAlone = true});
}

/// Of each of the processes.
std::vector<Rows> keptBy(const std::string &hosts, int64_t processes) {
  std::vector<Rows> kept(static_cast<size_t>(processes));
  auto failures = LocalGroups(processes).run([&](Group &group) {
    auto program = loaded(hosts, &group);
    kept[size_t(group.rank())] = keptRows(*program, *program->entry("step"));
  });
  EXPECT_EQ(failures, std::vector<std::string>(kept.size()));
  return kept;
}

} // namespace

TEST(Ports, AProcessReadsTheRowsOfItsRanks) {
  const Rows first = {0, 1, 4, 5}, second = {2, 3, 6, 7}, all = {0, 1, 2, 3, 4, 5, 6, 7};
  auto alone = loaded("", nullptr);
  EXPECT_EQ(keptRows(*alone, *alone->entry("step")), all);
  EXPECT_EQ(keptBy("", 4), (std::vector<Rows>{first, first, second, second}));
  EXPECT_EQ(keptBy("dp=2", 2), (std::vector<Rows>{first, second}));
  EXPECT_EQ(keptBy("tp=2", 2), (std::vector<Rows>{all, all}));
}
