//===- SubDimensionsTest.cpp - Cuts of one dimension ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/SubDimensions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::sharding;

namespace {

const Mesh mesh = std::get<Mesh>(Mesh::parse("dp=2,tp=3"));

Pieces pieces(std::string_view text) { return Layout::parse(text, mesh)->dimensions[0]; }
std::string text(const Pieces &pieces) { return Layout{{joined(pieces)}}.text(mesh); }

std::string apart(std::string_view from, std::initializer_list<int64_t> sizes) {
  auto parts = splitPieces(pieces(from), sizes, mesh);
  return parts ? Layout{*parts}.text(mesh) : "none";
}

std::string refined(std::string_view one, std::string_view other) {
  Pieces result = pieces(one);
  refine(result, pieces(other), mesh, [](unsigned) { return true; });
  return text(result);
}

} // namespace

TEST(Pieces, FallApart) {
  EXPECT_EQ(apart("12@dp*4", {12, 4}), "12@dp 4");
  EXPECT_EQ(apart("48@dp", {12, 4}), "12@dp 4");
  EXPECT_EQ(apart("48", {12, 4}), "12 4");
  EXPECT_EQ(apart("12@dp*4", {6, 8}), "6@dp 8");
  EXPECT_EQ(apart("2*6@dp*4", {12, 4}), "2*6@dp 4");
  EXPECT_EQ(apart("12@dp", {1, 12, 1}), "1 12@dp 1");
  EXPECT_EQ(apart("12", {12}), "12");
  // 48 over 3 are 16 each: 5 x 4 of 20 are not whole rows.
  EXPECT_EQ(apart("20@tp", {5, 4}), "none");
  EXPECT_EQ(apart("3*4@dp", {4, 3}), "none");
}

TEST(Pieces, CutsAreAddedWhereTheyDoNotContradict) {
  EXPECT_EQ(refined("12", "12@dp"), "12@dp");
  EXPECT_EQ(refined("12@dp", "12@dp@tp"), "12@dp@tp");
  EXPECT_EQ(refined("12@tp", "12@dp"), "12@tp");
  EXPECT_EQ(refined("12@dp*4", "12*4@tp"), "12@dp*4@tp");
  EXPECT_EQ(refined("48", "12@dp*4"), "12@dp*4");
  EXPECT_EQ(refined("12@dp", "12"), "12@dp");
}

TEST(Pieces, OverAllowedAxesAlone) {
  Pieces result = pieces("12");
  EXPECT_FALSE(refine(result, pieces("12@dp"), mesh, [](unsigned axis) { return axis == 1; }));
  EXPECT_EQ(text(result), "12");
}

TEST(Pieces, Align) {
  Pieces a = pieces("12@dp*4"), b = pieces("48");
  ASSERT_TRUE(align(a, b, mesh));
  EXPECT_EQ(a, (Pieces{{12, {0}}, {4}}));
  EXPECT_EQ(b, (Pieces{{12}, {4}}));
  Pieces c = pieces("3@tp*4"), d = pieces("4@dp*3");
  EXPECT_FALSE(align(c, d, mesh));
}
