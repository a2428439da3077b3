//===- PlantedTest.cpp - Planted faults are caught and named ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case changes what one pass has made of a small model, the way a faulty pass would. The
// verification has to name that pass, the op and its line of the model.
//
//===----------------------------------------------------------------------===//

#include "test/verify/Faults.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;
using namespace mlir;

namespace {

/// The number of the line that contains `part`.
unsigned lineOf(llvm::StringRef part) {
  llvm::StringRef all(smallModel);
  size_t at = all.find(part);
  assert(at != llvm::StringRef::npos);
  return all.take_front(at).count('\n') + 1;
}

class Planted : public testing::TestWithParam<std::tuple<Fault, bool>> {};

TEST_P(Planted, IsCaughtAndNamed) {
  const auto &[fault, full] = GetParam();
  bool planted = false;
  FailureOr<VerifyReport> report = verified(
      fault.microbatches, full, [&, &fault = fault](llvm::StringRef pass, ModuleOp module) {
        if (pass == fault.pass && fault.plant(module))
          planted = true;
      });
  ASSERT_TRUE(succeeded(report));
  ASSERT_TRUE(planted) << "the test found no place for its fault";
  ASSERT_TRUE(report->fault) << "the fault was not noticed";
  SCOPED_TRACE(report->fault->message);
  EXPECT_EQ(report->fault->pass, fault.pass);
  EXPECT_NE(report->fault->op.find(fault.op), std::string::npos) << report->fault->op;
  // With or without a column behind the line.
  std::string place = report->fault->place + ":";
  EXPECT_NE(place.find(".weir:" + std::to_string(lineOf(fault.line)) + ":"), std::string::npos)
      << place;
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted,
                         testing::Combine(testing::ValuesIn(faults()), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_in_full" : "");
                         });

} // namespace
