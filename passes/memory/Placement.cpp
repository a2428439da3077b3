//===- Placement.cpp - Chooses offsets in the arena -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

using namespace llvm;

namespace weir {
namespace {

/// Occupied bytes, as ranges with gaps.
class Stretches {
public:
  void add(int64_t begin, int64_t end) {
    auto at = stretches.upper_bound(begin);
    if (at != stretches.begin() && std::prev(at)->second >= begin)
      begin = (--at)->first;
    while (at != stretches.end() && at->first <= end) {
      end = std::max(end, at->second);
      at = stretches.erase(at);
    }
    stretches.emplace_hint(at, begin, end);
  }
  auto begin() const { return stretches.begin(); }
  auto end() const { return stretches.end(); }

private:
  std::map<int64_t, int64_t> stretches; ///< begin, end
};

/// Occupied ranges by time: a tree of time spans, each split into halves below. Adjacent buffers
/// form one range, so even a span with many buffers has a short description.
class Timeline {
public:
  explicit Timeline(int64_t times) {
    for (; leaves < times; leaves *= 2)
      ;
    spans.resize(2 * leaves);
  }

  void add(const Lifetime &buffer, int64_t offset) {
    visit(1, 0, leaves, buffer, [&](Span &span, bool whole) {
      (whole ? span.throughout : span.within).add(offset, offset + buffer.size);
    });
  }

  /// The ranges that are occupied at any time of the buffer's lifetime, in order.
  void collect(const Lifetime &buffer, SmallVectorImpl<std::pair<int64_t, int64_t>> &into) {
    visit(1, 0, leaves, buffer, [&](Span &span, bool whole) {
      append_range(into, span.throughout);
      if (whole)
        append_range(into, span.within);
    });
    sort(into);
  }

private:
  struct Span {
    Stretches throughout; ///< of buffers alive throughout this span, but not the one above
    Stretches within;     ///< of buffers in the spans below
  };

  /// Calls `fn(span, whole)` with the spans that make up the buffer's lifetime, and with those
  /// above them, which it shares.
  template <typename Fn>
  void visit(size_t node, int64_t low, int64_t high, const Lifetime &buffer, Fn &&fn) {
    bool whole = buffer.first <= low && high <= buffer.last + 1;
    fn(spans[node], whole);
    if (whole)
      return;
    int64_t middle = low + (high - low) / 2;
    if (buffer.first < middle)
      visit(2 * node, low, middle, buffer, fn);
    if (buffer.last >= middle)
      visit(2 * node + 1, middle, high, buffer, fn);
  }

  int64_t leaves = 1;
  std::vector<Span> spans;
};

} // namespace

Placement placeBuffers(ArrayRef<Lifetime> buffers, int64_t base) {
  Placement placement{std::vector<int64_t>(buffers.size()), base, 0};
  int64_t times = 1;
  std::vector<size_t> order;
  for (auto [i, buffer] : enumerate(buffers)) {
    assert(buffer.first <= buffer.last && "a buffer is used");
    order.push_back(i);
    times = std::max(times, buffer.last + 1);
  }
  stable_sort(order, [&](size_t a, size_t b) {
    return buffers[a].size != buffers[b].size ? buffers[a].size > buffers[b].size
                                              : buffers[a].first < buffers[b].first;
  });
  Timeline timeline(times);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (size_t i : order) {
    int64_t size = buffers[i].size, at = base, best = -1, least = INT64_MAX;
    taken.clear();
    timeline.collect(buffers[i], taken);
    placement.steps += taken.size();
    for (auto [begin, end] : taken) {
      int64_t gap = begin - at;
      if (gap >= size && gap < least) {
        best = at;
        least = gap;
      }
      at = std::max(at, end);
    }
    int64_t offset = best >= 0 ? best : at;
    placement.offsets[i] = offset;
    placement.end = std::max(placement.end, offset + size);
    timeline.add(buffers[i], offset);
  }
  return placement;
}

} // namespace weir
