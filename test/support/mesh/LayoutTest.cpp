//===- LayoutTest.cpp - Meshes, and how tensors lie on them ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/Layout.h"
#include <gtest/gtest.h>
#include <set>

using namespace weir;
using Shape = std::vector<int64_t>;

static Mesh mesh(const char *text) { return std::get<Mesh>(Mesh::parse(text)); }

TEST(Mesh, RanksAreNumberedRowByRow) {
  Mesh six = mesh("dp=2,tp=3");
  EXPECT_EQ(six.text(), "dp=2,tp=3");
  EXPECT_EQ(six.ranks(), 6);
  EXPECT_EQ(six.find("tp"), 1);
  EXPECT_EQ(six.find("pp"), -1);
  EXPECT_EQ(six.coordinate(4, 0), 1);
  EXPECT_EQ(six.coordinate(4, 1), 1);
  EXPECT_EQ(six.along(4, 0), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(six.along(4, 1), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(mesh("").ranks(), 1);
}

TEST(Mesh, WhatIsNoneSaysWhatIsWrong) {
  for (auto [text, reason] : std::initializer_list<std::pair<const char *, const char *>>{
           {"dp", "'dp' is not an axis with a size"},
           {"=2", "'=2' is not an axis with a size"},
           {"dp=0", "'0' is not a valid size of the axis dp"},
           {"dp=-2", "'-2' is not a valid size of the axis dp"},
           {"dp=2x", "'2x' is not a valid size of the axis dp"},
           {"dp=99999999999999999999", "is not a valid size of the axis dp"},
           {"dp=2,dp=2", "the axis dp is given twice"},
           {"dp=2,", "nothing follows the last comma"},
           {"dp=3:0", "'3:0' is not a valid size of the axis dp"},
           {"dp=3:", "'3:' is not a valid size of the axis dp"},
           {"dp=3:one", "'3:one' is not a valid size of the axis dp"},
           {"dp=49999:2", "the shares of dp add up to more than 50000"},
           {"tp=2:1",
            "the axis tp does not support unequal shares, such as 2:1: only dp and pp do"},
           {"dp=65536,tp=2", "there are more than 65536 ranks"}}) {
    auto parsed = Mesh::parse(text);
    ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << text;
    EXPECT_NE(std::get<std::string>(parsed).find(reason), std::string::npos)
        << std::get<std::string>(parsed);
  }
}

TEST(Layout, SharesDifferByOneAndCoverAll) {
  Mesh eight = mesh("dp=2,tp=4");
  for (int64_t size : {1, 4, 7, 8, 65, 1000}) {
    Piece piece{size, {0, 1}};
    int64_t next = 0;
    for (int64_t rank = 0; rank < 8; ++rank) {
      Share share = piece.share(eight, rank);
      EXPECT_EQ(share.begin, next);
      EXPECT_TRUE(share.size == size / 8 || share.size == size / 8 + 1);
      next += share.size;
    }
    EXPECT_EQ(next, size);
    // Those of the outer axis are those of both together.
    EXPECT_EQ(Piece({size, {0}}).share(eight, 4).begin, piece.share(eight, 4).begin);
  }
}

TEST(Mesh, SharesOfRanksAreWrittenAsSmallAsTheyCanBe) {
  EXPECT_EQ(mesh("dp=6:2,pp=1:1:2").text(), "dp=3:1,pp=1:1:2");
  EXPECT_EQ(mesh("dp=60000:20000").text(), "dp=3:1");
  EXPECT_EQ(mesh("dp=6:2,pp=1:1:2").ranks(), 6);
  EXPECT_EQ(mesh("pp=1:3,dp=1:2,tp=2").fullestRank(), 2);
  EXPECT_EQ(mesh("pp=2,dp=4").fullestRank(), 0);
  EXPECT_EQ(mesh("dp=3:1").axes[0].shareAt(0), 1.5);
  EXPECT_EQ(mesh("tp=5:5").text(), "tp=2");
  EXPECT_EQ(mesh("dp=3:1").along(0, 0), (std::vector<int64_t>{0, 1}));
}

TEST(Layout, UnequalSharesAreThoseOfAsManyEqualRanks) {
  Mesh unequal = mesh("dp=3:1:2,tp=2"), equal = mesh("dp=6,tp=2");
  for (int64_t size : {12, 13, 100, 1000}) {
    Piece piece{size, {0, 1}};
    EXPECT_TRUE(piece.hasPlaceForAll(unequal));
    // Of a tp rank's half the shares of the equal ranks that each is instead of.
    for (auto [rank, first, count] : {std::tuple(0, 0, 3), {2, 3, 1}, {4, 4, 2}}) {
      Share outer = Piece{size, {0}}.share(unequal, rank),
            begin = Piece{size, {0}}.share(equal, 2 * first),
            end = Piece{size, {0}}.share(equal, 2 * (first + count - 1));
      EXPECT_EQ(outer.begin, begin.begin);
      EXPECT_EQ(outer.begin + outer.size, end.begin + end.size);
      EXPECT_EQ(piece.share(unequal, rank).begin, outer.begin);
      EXPECT_EQ(piece.share(unequal, rank).size + piece.share(unequal, rank + 1).size, outer.size);
    }
  }
  EXPECT_TRUE(Piece({5, {0}}).hasPlaceForAll(unequal));
  EXPECT_FALSE(Piece({2, {0}}).hasPlaceForAll(unequal));
  EXPECT_TRUE(Piece({2, {0}}).hasPlaceForAll(mesh("dp=1:2")));
  EXPECT_FALSE(Piece({2, {0}}).hasPlaceForAll(mesh("dp=2:1")));
  EXPECT_FALSE(Piece({12, {0}}).isEven(unequal));
  EXPECT_TRUE(Piece({12, {1}}).isEven(unequal));
  EXPECT_EQ(Piece({12, {0, 1}}).units(unequal), 12);
  EXPECT_EQ(Piece({mostElements, {0}}).share(mesh("dp=49999:1"), 1).size, mostElements / 50000);
}

TEST(Layout, TextAndShape) {
  Mesh six = mesh("dp=2,tp=3");
  Shape shape = {48, 65, 4};
  std::optional<Layout> layout = Layout::parse("12@dp*4 65@tp 4", six);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->text(six), "12@dp*4 65@tp 4");
  EXPECT_EQ(layout->shape(), shape);
  EXPECT_TRUE(layout->isCut() && layout->isCutOver(1) && !layout->isWhole());
  EXPECT_EQ(layout->shape(six, 0), (Shape{24, 22, 4}));
  EXPECT_EQ(layout->shape(six, 5), (Shape{24, 21, 4}));
  EXPECT_EQ(Layout::parse("48 65 2*2 +dp +tp", six)->text(six), "48 65 4 +dp +tp");
  EXPECT_EQ(Layout::whole(shape).text(six), "48 65 4");
  EXPECT_EQ(Layout::parse("", six)->text(six), "");
  EXPECT_EQ(Layout::parse("+tp", six)->text(six), "+tp");
}

TEST(Layout, WhatIsOfOneStage) {
  Mesh four = mesh("pp=2,dp=2");
  std::optional<Layout> layout = Layout::parse("5@dp 4 on pp=1", four);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->text(four), "5@dp 4 on pp=1");
  EXPECT_EQ(layout->shape(), (Shape{5, 4}));
  EXPECT_FALSE(layout->isWhole());
  EXPECT_EQ(layout->shape(four, 3), (Shape{2, 4}));
  EXPECT_TRUE(layout->isElsewhere(four, 0) && !layout->isElsewhere(four, 2));
  EXPECT_EQ(layout->shape(four, 0), (Shape{0, 0}));
  forEachRun(*layout, four, 0, [](int64_t, int64_t, int64_t) { ADD_FAILURE() << "has a part"; });
  EXPECT_EQ(Layout::parse("on pp=0", four)->shape(four, 2), (Shape{0}));
  EXPECT_EQ(Layout::parse("on pp=0", four)->shape(four, 0), (Shape{}));
  for (const char *text : {"5 on pp=2", "5 on tp=0", "5 on", "5 on pp", "5 on pp=x", "5 on pp=-1",
                           "5@pp on pp=0", "5 on pp=0 4", "5 on pp=0 on pp=0"})
    EXPECT_FALSE(Layout::parse(text, four)) << text;
}

TEST(Layout, WhatIsNone) {
  Mesh six = mesh("dp=2,tp=3");
  for (const char *text : {"48@pp 65", "48@dp 65@dp", "48@dp 65 +dp", "+dp 48 65", "48 0", "48  65",
                           "48 -65", "48 65x", "48@ 65", "48* 65", "x 65", "48 65 +",
                           "72057594037927937", "72057594037927936*72057594037927936"})
    EXPECT_FALSE(Layout::parse(text, six)) << text;
}

TEST(Layout, RunsAreAllThatARankHasInOrder) {
  Mesh six = mesh("dp=2,tp=3");
  for (auto [text, shape] :
       std::initializer_list<std::pair<const char *, Shape>>{{"12@dp*4 65@tp 4", {48, 65, 4}},
                                                             {"5 7@tp", {5, 7}},
                                                             {"2*6@dp@tp 3", {12, 3}},
                                                             {"3 1", {3, 1}},
                                                             {"6@tp 1", {6, 1}},
                                                             {"1 4@dp*3 2", {1, 12, 2}},
                                                             {"", {}}}) {
    Layout layout = *Layout::parse(text, six);
    for (int64_t rank = 0; rank < 6; ++rank) {
      // Element by element: a whole number's places in pieces, each within its share.
      std::vector<int64_t> expected, found;
      int64_t elements = 1;
      for (int64_t size : shape)
        elements *= size;
      for (int64_t whole = 0; whole < elements; ++whole) {
        int64_t left = whole, inner = elements;
        bool mine = true;
        for (const Pieces &pieces : layout.dimensions)
          for (const Piece &piece : pieces) {
            inner /= piece.size;
            Share share = piece.share(six, rank);
            int64_t place = left / inner;
            left %= inner;
            mine &= place >= share.begin && place < share.begin + share.size;
          }
        if (mine)
          expected.push_back(whole);
      }
      forEachRun(layout, six, rank, [&](int64_t whole, int64_t own, int64_t count) {
        EXPECT_EQ(own, int64_t(found.size()));
        for (int64_t i = 0; i < count; ++i)
          found.push_back(whole + i);
      });
      EXPECT_EQ(found, expected) << text << " of rank " << rank;
    }
  }
}
