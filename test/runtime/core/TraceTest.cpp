//===- TraceTest.cpp - Tests of when each action ran ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Trace.h"
#include <gtest/gtest.h>
#include <thread>

namespace weir {
namespace {

Trace::Event numbered(uint32_t number) { return {number, number, number, number, number + 1}; }

TEST(TraceTest, KeepsTheNewest) {
  Trace trace(3, {});
  for (uint32_t number = 0; number < 5; ++number)
    trace.record(numbered(number));
  EXPECT_EQ(trace.total(), 5u);
  std::vector<Trace::Event> events = trace.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events.front().action, 2u);
  EXPECT_EQ(events.back().action, 4u);
}

TEST(TraceTest, IsReadWhileAnotherThreadRecords) {
  Trace trace(10, {});
  std::jthread recorder([&] {
    for (uint32_t number = 0; number < 5000; ++number)
      trace.record(numbered(number));
  });
  for (uint64_t total = 0; total < 5000; total = trace.total()) {
    std::vector<Trace::Event> events = trace.events();
    for (size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].action, events[0].action + i);
      ASSERT_EQ(events[i].entry, events[i].action);
      ASSERT_EQ(events[i].end, int64_t(events[i].action) + 1);
    }
  }
}

} // namespace
} // namespace weir
