//===- TuningTest.cpp - The file of weir tune, as bytes -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Tuning.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr const char *written = R"({
  "device": "NVIDIA \"H200\" é",
  "kernels": {
    "0123456789abcdef": {
      "after_ns": 1500,
      "before_ns": 2000,
      "settings": {
        "split": 4,
        "threads": 256
      },
      "what": "map add, line 3"
    },
    "fedcba9876543210": {
      "after_ns": 0,
      "before_ns": 0,
      "settings": {},
      "what": ""
    }
  },
  "target": "cuda:sm_90",
  "weir_tuning": 1
}
)";

/// What is wrong with a text, or "".
std::string wrong(llvm::StringRef text) {
  std::string problem;
  return Tuning::parse(text, problem) ? "" : problem;
}

/// That of one kernel.
std::string wrongKernel(const std::string &kernel) {
  return wrong(R"({"weir_tuning": 1, "target": "cpu", "kernels": {)" + kernel + "}}");
}

TEST(Tuning, IsWrittenInOrderAndReadAgain) {
  Tuning tuning{"cuda:sm_90", "NVIDIA \"H200\" é", {}};
  tuning.kernels["fedcba9876543210"] = {};
  tuning.kernels["0123456789abcdef"] = {
      "map add, line 3", {{"threads", 256}, {"split", 4}}, 2000, 1500};
  EXPECT_EQ(tuning.text(), written);
  std::string problem;
  std::optional<Tuning> read = Tuning::parse(written, problem);
  ASSERT_TRUE(read) << problem;
  EXPECT_EQ(read->text(), written);
}

TEST(Tuning, HasNoBytesThatAreNoCharacters) {
  Tuning tuning{"cpu", "\xff", {}};
  EXPECT_NE(tuning.text().find("\"device\": \"\uFFFD\""), std::string::npos);
}

TEST(Tuning, OfAnotherFileIsRefused) {
  EXPECT_EQ(wrong(""), "is no JSON from line 1, column 1");
  EXPECT_EQ(wrong("{\n  \"weir_tuning\": 1,\n  target}"), "is no JSON from line 3, column 4");
  EXPECT_EQ(wrong("\"\xff\""), "is no JSON from line 1, column 2");
  EXPECT_EQ(wrong("{\"weir_tuning\": 1e999}"), "is no JSON");
  EXPECT_EQ(wrong(std::string(200'000, '[')),
            "is no file of weir tune: it has too many brackets in each other");
  for (const char *text : {"{}", "[]", "1", "null", "{\"weir_tuning\": 1.5}",
                           "{\"weir_tuning\": 18446744073709551615}"})
    EXPECT_EQ(wrong(text), "is no file of weir tune: it has no \"weir_tuning\"") << text;
  EXPECT_EQ(wrong("{\"weir_tuning\": 2}"),
            "is of version 2, and this Weir reads version 1: run weir tune again");
  EXPECT_EQ(wrong("{\"weir_tuning\": 1}"), "has no \"target\" and \"kernels\"");
  EXPECT_EQ(wrong("{\"weir_tuning\": 1, \"target\": 2, \"kernels\": {}}"),
            "has no \"target\" and \"kernels\"");
}

TEST(Tuning, OfAnotherKernelIsRefused) {
  EXPECT_EQ(wrongKernel(R"("x": {})"), "has a kernel \"x\" that weir tune has not written");
  EXPECT_EQ(wrongKernel(R"("\u001b": {})"),
            "has a kernel \"\\x1b\" that weir tune has not written");
  EXPECT_EQ(wrongKernel(R"("0123456789abcdef": 1)"),
            "has a kernel \"0123456789abcdef\" that weir tune has not written");
  EXPECT_EQ(wrongKernel(R"("0123456789abcdef": {"what": ""})"),
            "has a kernel \"0123456789abcdef\" of which it has no \"what\" and \"settings\"");
  EXPECT_EQ(wrongKernel(R"("0123456789abcdef": {"what": "", "settings": {"threads": "64"}})"),
            "has a kernel \"0123456789abcdef\" of which \"threads\" is no whole number");
}

} // namespace
} // namespace weir
