//===- CheckWrittenTest.cpp -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/CheckWritten.h"
#include "runtime/core/Error.h"
#include "test/runtime/core/TestProgram.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

TEST(CheckWritten, AcceptsWhatRuns) {
  TestProgram test;
  test.variable("w", {3, 5});
  checkWritten(test.file());
}

TEST(CheckWritten, WhatTheRuntimeRefusesIsAFaultOfOurs) {
  auto refused = [](const TestProgram &test, const std::string &reason) {
    try {
      checkWritten(test.file());
      ADD_FAILURE() << "accepted, though: " << reason;
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::internal);
      std::string message = failure.what();
      EXPECT_NE(message.find("a fault of Weir's own, please report it"), std::string::npos);
      EXPECT_NE(message.find(reason), std::string::npos) << message;
    }
  };
  TestProgram operands;
  operands.program.code = {1};
  operands.kernel("wide", 1, std::vector<uint64_t>(1025, 4));
  refused(operands, "it takes too many operands");

  TestProgram code;
  code.program.code = {1, 2, 3};
  code.kernel("lost", 1, {4});
  refused(code, "machine code cannot be loaded");
}

TEST(CheckWritten, AModelThatIsTooLargeIsNoFaultOfOurs) {
  TestProgram test;
  test.program.arena = uint64_t(3) << 40;
  try {
    checkWritten(test.file());
    ADD_FAILURE() << "accepted";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::device);
    EXPECT_EQ(
        std::string(failure.what()),
        "the model needs 3072 GiB of memory; an artifact may ask for 1024 GiB: make the model "
        "or its batch smaller (--set)");
  }
}

} // namespace
