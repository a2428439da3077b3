//===- ElementTest.cpp - The table of element types -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/precision/Element.h"
#include <array>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace weir {
namespace {

TEST(ElementTable, NamesAreOneRowsEach) {
  std::set<std::string_view> names, numpy, safetensors;
  for (const ElementRow &row : elementRows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(safetensors.insert(row.safetensors).second) << row.name;
    EXPECT_EQ(findSafetensors(row.safetensors), &row);
    if (!row.numpy)
      continue;
    EXPECT_TRUE(numpy.insert(row.numpy).second) << row.name;
    EXPECT_EQ(findNumpy(row.numpy), &row);
  }
  EXPECT_EQ(findSafetensors("F4"), nullptr);
  EXPECT_EQ(findNumpy("f3"), nullptr);
}

TEST(ElementTable, WorkIsDoneInItsOwnTypeOrAWiderOne) {
  for (const ElementRow &row : elementRows) {
    EXPECT_EQ(rowOf(row.work).work, row.work) << row.name;
    EXPECT_GE(sizeOf(row.work), row.bytes) << row.name;
  }
}

TEST(ElementTable, RangesAreThoseOfTheTypes) {
  auto range = [](Element element) { return std::pair(leastOf(element), mostOf(element)); };
  EXPECT_EQ(range(Element::i32), std::pair(int64_t(INT32_MIN), int64_t(INT32_MAX)));
  EXPECT_EQ(range(Element::u32), std::pair(int64_t(0), int64_t(UINT32_MAX)));
  EXPECT_EQ(range(Element::i8), std::pair(int64_t(INT8_MIN), int64_t(INT8_MAX)));
  EXPECT_EQ(range(Element::u8), std::pair(int64_t(0), int64_t(UINT8_MAX)));
  EXPECT_EQ(range(Element::b8), std::pair(int64_t(0), int64_t(1)));
}

// All of what is in files or programs with numbers is as many bytes as the row says.
TEST(ElementTable, NumbersComeBackFromTheirBytes) {
  for (const ElementRow &row : elementRows) {
    if (!row.numpy)
      continue;
    std::vector<double> values = {0, 1}, again(2);
    if (row.kind == ElementKind::real || row.kind == ElementKind::integer)
      values[0] = -7;
    std::vector<std::byte> bytes(2 * row.bytes + 1);
    storeNumbers(row.element, values, bytes.data() + 1); // at no boundary
    loadNumbers(row.element, bytes.data() + 1, again);
    EXPECT_EQ(again, values) << row.name;
  }
  EXPECT_EQ(rounded(Element::f32, 0.1), double(0.1f));
  EXPECT_EQ(rounded(Element::f64, 0.1), 0.1);
}

} // namespace
} // namespace weir
