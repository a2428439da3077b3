//===- UtilizationTest.cpp - What a peak is written as --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Utilization.h"
#include "test/runtime/LocalGroup.h"
#include "test/runtime/core/TestProgram.h"
#include <gtest/gtest.h>
#include <stdexcept>

namespace weir {
namespace {

TEST(Utilization, PeaksAreReadWithTheirUnits) {
  EXPECT_EQ(readPeak("1.5T"), 1.5e12);
  EXPECT_EQ(readPeak("900G"), 9e11);
  EXPECT_EQ(readPeak("2e12"), 2e12);
  EXPECT_EQ(readPeak("3P"), 3e15);
  EXPECT_EQ(readPeak("5M"), 5e6);
  EXPECT_EQ(readPeak("7K"), 7e3);
  EXPECT_EQ(readPeak("1"), 1);
  EXPECT_EQ(readPeak("measure"), std::nullopt);
}

TEST(Utilization, AnythingElseIsRefused) {
  for (const char *text :
       {"", "T", "0", "0T", "-1T", "+1T", "1.5TT", "1.5 T", " 1T", "1.5X", "1.5t", "nan", "inf",
        "infT", "1e300", "1e308P", "0x10", "1,5T", "measured"})
    EXPECT_THROW(readPeak(text), std::invalid_argument) << text;
  try {
    readPeak("1.5X");
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(), "expected FLOPs per second such as 1.5T, 900G or 2e12, or measure; "
                               "found '1.5X'");
  }
}

/// The mfu of steps of 70 model FLOPs that take a second, for what is compiled for that mesh.
double usedOf(const std::string &mesh, const std::string &target, const std::string &peak,
              Group *group = nullptr, std::string *said = nullptr) {
  TestProgram test;
  test.program.mesh = mesh;
  test.device().target = target;
  test.step().model_flops = 70;
  test.step().model_lines = {{artifact::Location(), 70}};
  std::vector<std::byte> file = test.file();
  const artifact::Program &program = artifact::verify(file);
  RunOptions options;
  options.peakFlops = peak;
  options.device.group = group;
  Utilization utilization(program, *program.entries()->Get(1), options);
  if (said)
    *said = utilization.notice();
  StepRecord record;
  record.seconds = 1;
  utilization.add(record);
  return record.mfu.value_or(0);
}

TEST(Utilization, AStepIsOfAllDevices) {
  constexpr const char *cpu = "x86-64-v3", *gpu = "cuda:sm_90";
  EXPECT_DOUBLE_EQ(usedOf("", cpu, "1K"), 0.07);
  // Threads share the machine's peak, and each GPU has its own.
  EXPECT_DOUBLE_EQ(usedOf("dp=2", cpu, "1K"), 0.07);
  EXPECT_DOUBLE_EQ(usedOf("dp=2", gpu, "1K"), 0.035);
  EXPECT_EQ(usedOf("dp=2", gpu, ""), 0);
}

TEST(Utilization, AStepIsOfAllProcesses) {
  for (const char *target : {"x86-64-v3", "cuda:sm_90"}) {
    auto failures = LocalGroups(2).run([&](Group &group) {
      std::string said;
      EXPECT_DOUBLE_EQ(usedOf("dp=2", target, "1K", &group, &said), 0.035);
      EXPECT_EQ(said.find("peak: 2e-06 GFLOP/s of 2 devices together, as given"), 0u) << said;
      // Each states its own; one that states none is as rank 0.
      EXPECT_DOUBLE_EQ(usedOf("dp=2", target, group.rank() ? "3K" : "1K", &group), 70.0 / 4000);
      EXPECT_DOUBLE_EQ(usedOf("dp=2", target, group.rank() ? "" : "1K", &group),
                       group.rank() ? 0 : 0.035);
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
  }
}

} // namespace
} // namespace weir
