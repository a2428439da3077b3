//===- Memory.h - The last write and reads of each byte -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_MEMORY_H
#define WEIR_SUPPORT_PLANNED_MEMORY_H

#include "support/planned/Clocks.h"
#include "support/planned/FlatPlan.h"

namespace weir::planned {

struct Region {
  Space space;
  uint64_t begin, end;
};

/// The last write of each byte, and the last read by each queue since then. That is enough: an
/// action that has to follow an earlier access, and follows these, has been found to follow it.
class Memory {
public:
  Memory(const FlatPlan &plan, const Clocks &clocks, Effort &effort);

  /// Checks that the bytes are written, and that the writes are done. `reader` has just been issued
  /// on its queue.
  Finding read(const Mark &reader, uint64_t begin, uint64_t end);
  /// Checks that the writers and readers of the bytes are done.
  Finding write(const Mark &writer, uint64_t begin, uint64_t end);
  /// Whether the host wrote some of these bytes last.
  bool isHosts(const Region &region) const;

  /// Calls visitor(isWrite, begin, end, mark) for all marks in the region, in a fixed order.
  template <typename Visitor> void visit(const Region &region, Visitor visitor) const {
    const Row &row = rows[size_t(region.space)];
    auto each = [&](const Intervals &marks, bool isWrite) {
      marks.visit(region.begin, region.end, [&](uint64_t begin, uint64_t end, const Mark &mark) {
        visitor(isWrite, begin, end, mark);
        return true;
      });
    };
    each(row.writes, true);
    for (const Intervals &reads : row.reads)
      each(reads, false);
  }

private:
  struct Row {
    Intervals writes;
    std::vector<Intervals> reads; // by queue
  };

  Fault unordered(FaultKind kind, const Mark &later, const Mark &earlier, uint64_t begin,
                  uint64_t end) const;
  Fault missing(const Mark &reader, const Mark *other, uint64_t begin, uint64_t end) const;

  const FlatPlan &plan;
  const Clocks &clocks;
  std::vector<Row> rows;         // by space
  std::vector<bool> hasContents; // by buffer: some of it has been written
};

} // namespace weir::planned

#endif
