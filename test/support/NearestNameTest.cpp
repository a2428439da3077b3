//===- NearestNameTest.cpp - Names that are near enough to be meant -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/NearestName.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(NearestName, MayHaveAThirdOfItsLettersWrong) {
  EXPECT_EQ(nearestName("crossentropy", {"accuracy", "cross_entropy"}), "cross_entropy");
  EXPECT_EQ(nearestName("wid", {"wide"}), "wide");
  EXPECT_EQ(nearestName("windowws", {"window"}), "window");
  EXPECT_EQ(nearestName("windowxyz", {"window"}), "window");
  EXPECT_EQ(nearestName("windowxy", {"windo"}), std::nullopt);
  EXPECT_EQ(nearestName("batch", {"width"}), std::nullopt);
  EXPECT_EQ(nearestName("dim", {"sum"}), std::nullopt);
}

TEST(NearestName, HasNeighboursSwappedAsOneEdit) {
  EXPECT_EQ(nearestName("fro", {"if", "for"}), "for");
  EXPECT_EQ(nearestName("wdith", {"width", "batch"}), "width");
  EXPECT_EQ(nearestName("wtdih", {"width"}), std::nullopt);
}

TEST(NearestName, MayBeInAnotherCase) {
  EXPECT_EQ(nearestName("Relu", {"rely", "relu"}), "relu");
  EXPECT_EQ(nearestName("X", {"y", "x"}), "x");
}

TEST(NearestName, IsTheNearestAndAmongEqualsTheFirst) {
  EXPECT_EQ(nearestName("layers", {"player", "layer"}), "layer");
  EXPECT_EQ(nearestName("hat", {"cat", "bat"}), "cat");
}

TEST(NearestName, IsAnother) {
  EXPECT_EQ(nearestName("batch", {"batch"}), std::nullopt);
  EXPECT_EQ(nearestName("batch", {"batch", "patch"}), "patch");
  EXPECT_EQ(nearestName("", {"batch", ""}), std::nullopt);
  EXPECT_EQ(nearestName("batch", {}), std::nullopt);
}

TEST(NearestName, OfOneOrTwoLettersIsSoughtInHintsAlone) {
  EXPECT_EQ(nearestName("x", {"y", "xs"}), std::nullopt);
  EXPECT_EQ(nearestName("tq", {"tp"}), std::nullopt);
  EXPECT_EQ(didYouMean("tq", {"tp"}), "; did you mean 'tp'?");
  EXPECT_EQ(didYouMean("x", {"y", "w"}), ""); // nothing of it is left
}

TEST(NearestName, IsSaidBehindAMessage) {
  std::vector<std::string> names = {"window", "wide", "w"};
  EXPECT_EQ(didYouMean("windw", names), "; did you mean 'window'?");
  EXPECT_EQ(didYouMean("windows", names), "; did you mean 'window'?");
  EXPECT_EQ(didYouMean("head.bias", {"top.bias"}), "; did you mean 'top.bias'?");
  EXPECT_EQ(didYouMean("images", names), "");
  EXPECT_EQ(didYouMean("x", names), "");
}

TEST(NearestName, TakesNoTimeOverNamesThatNobodyTypes) {
  // As edits, half a day.
  std::string endless(1 << 20, 'a');
  EXPECT_EQ(nearestName(endless, std::vector<std::string>(64, endless + "b")), std::nullopt);
  EXPECT_EQ(nearestName("layer.0.w", std::vector<std::string>(1 << 10, endless)), std::nullopt);
}

} // namespace
} // namespace weir
