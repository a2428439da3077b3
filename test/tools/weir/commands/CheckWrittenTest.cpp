//===- CheckWrittenTest.cpp -----------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/commands/CheckWritten.h"
#include "support/Error.h"
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
  operands.code(std::vector<uint8_t>{1});
  operands.kernel("wide", 1, std::vector<uint64_t>(1025, 4));
  refused(operands, "it takes too many operands");

  TestProgram code;
  code.code(std::vector<uint8_t>{1, 2, 3});
  code.kernel("lost", 1, {4});
  refused(code, "machine code cannot be loaded");

  TestProgram evaluation;
  auto input = [&](artifact::EntryT &entry, int64_t columns) {
    uint32_t buffer = evaluation.buffer(entry, 8 * columns, 0, 0);
    entry.inputs.push_back(
        TestProgram::port("x", artifact::PortKind::input, TestProgram::buf(buffer), {2, columns}));
  };
  input(evaluation.step(), 3);
  artifact::EntryT &eval = evaluation.addEntry("eval");
  input(eval, 3);
  checkWritten(evaluation.file());
  eval.inputs.clear();
  input(eval, 4);
  refused(evaluation, "entry 'eval': it is unlike 'step' in 'x'");
}

TEST(CheckWritten, AModelThatIsTooLargeIsNoFaultOfOurs) {
  TestProgram test;
  test.device().arena = uint64_t(3) << 40;
  try {
    checkWritten(test.file());
    ADD_FAILURE() << "accepted";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::device);
    EXPECT_EQ(
        std::string(failure.what()),
        "the model needs 3072 GiB of memory, but an artifact can use at most 1024 GiB: make the "
        "model or its batch smaller (--set)");
  }
}

} // namespace
