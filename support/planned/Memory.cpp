//===- Memory.cpp - The last write and reads of each byte -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Memory.h"
#include "support/Text.h"
#include "support/planned/Words.h"

namespace weir::planned {

Memory::Memory(const FlatPlan &plan, const Clocks &clocks, Effort &effort)
    : plan(plan), clocks(clocks),
      rows(spaceCount, {Intervals(effort), {clocks.queues(), Intervals(effort)}}),
      hasContents(plan.entry.buffers.size()) {
  for (uint32_t i = plan.contents; i < plan.accesses.size(); ++i) {
    const Placed &placed = plan.accesses[i];
    hasContents[placed.buffer] = true;
    rows[size_t(placed.space)].writes.assign(placed.address, placed.address + placed.ranges.bytes,
                                             {i, clocks.host(), Clocks::contents});
  }
}

Finding Memory::read(const Mark &reader, uint64_t begin, uint64_t end) {
  const Placed &placed = plan.accesses[reader.access];
  Row &row = rows[size_t(placed.space)];
  Finding fault;
  uint64_t written = begin; // all before it
  row.writes.visit(begin, end, [&](uint64_t from, uint64_t to, const Mark &mark) {
    if (from != written)
      return false;
    if (!clocks.sees(reader.queue, mark))
      fault = unordered(placed.action == afterEntry ? FaultKind::outputBeforeCompletion
                                                    : FaultKind::writeThenRead,
                        reader, mark, from, to);
    else if (plan.accesses[mark.access].buffer != placed.buffer)
      fault = missing(reader, &mark, from, to);
    written = to;
    return !fault;
  });
  if (!fault && written != end)
    fault = missing(reader, nullptr, written, end);
  if (!fault)
    row.reads[reader.queue].assign(begin, end, reader);
  return fault;
}

Finding Memory::write(const Mark &writer, uint64_t begin, uint64_t end) {
  const Placed &placed = plan.accesses[writer.access];
  Row &row = rows[size_t(placed.space)];
  Finding fault;
  row.writes.visit(begin, end, [&](uint64_t from, uint64_t to, const Mark &mark) {
    bool isSelf = mark.queue == writer.queue && mark.sequence == writer.sequence;
    if (isSelf && mark.access != writer.access)
      fault = Fault{FaultKind::writtenTwice,
                    concat(accessWords(plan, placed), ": it writes ",
                           bytesWords(plan, placed, from, to), ", which ",
                           accessWords(plan, plan.accesses[mark.access]), " writes too"),
                    placed.number()};
    else if (!isSelf && !clocks.sees(writer.queue, mark))
      fault = unordered(FaultKind::writeThenWrite, writer, mark, from, to);
    return !fault;
  });
  for (uint32_t queue = 0; queue < row.reads.size() && !fault; ++queue)
    row.reads[queue].visit(begin, end, [&](uint64_t from, uint64_t to, const Mark &mark) {
      if (!clocks.sees(writer.queue, mark))
        fault = unordered(FaultKind::readThenWrite, writer, mark, from, to);
      return !fault;
    });
  if (fault)
    return fault;
  row.writes.assign(begin, end, writer);
  // What comes after this write comes after these reads.
  for (Intervals &reads : row.reads)
    reads.erase(begin, end);
  hasContents[placed.buffer] = true;
  return {};
}

bool Memory::isHosts(const Region &region) const {
  bool found = false;
  rows[size_t(region.space)].writes.visit(region.begin, region.end,
                                          [&](uint64_t, uint64_t, const Mark &mark) {
                                            found |= mark.queue == clocks.host();
                                            return !found;
                                          });
  return found;
}

Fault Memory::unordered(FaultKind kind, const Mark &later, const Mark &earlier, uint64_t begin,
                        uint64_t end) const {
  const Placed &placed = plan.accesses[later.access];
  const Placed &other = plan.accesses[earlier.access];
  bool reads = kind == FaultKind::writeThenRead || kind == FaultKind::outputBeforeCompletion;
  std::vector<std::string> waits;
  for (const Clocks::Wait &wait : clocks.waits(later.queue))
    waits.push_back(
        concat("event ", plan.events[wait.event], ", recorded on queue ", wait.recordedOn));
  return {kind,
          concat(accessWords(plan, placed), ": it ", reads ? "reads " : "writes ",
                 bytesWords(plan, placed, begin, end), ", which ", accessWords(plan, other),
                 kind == FaultKind::readThenWrite ? " reads" : " writes",
                 ", and nothing puts the two in order: queue ", later.queue,
                 " has to wait for an event that queue ", earlier.queue,
                 " records behind that, and has waited for ",
                 waits.empty() ? "none" : joinFew(waits, "; ")),
          placed.number()};
}

Fault Memory::missing(const Mark &reader, const Mark *other, uint64_t begin, uint64_t end) const {
  const Placed &placed = plan.accesses[reader.access];
  bool lost = other && hasContents[placed.buffer];
  std::string what = "nothing has written";
  if (other)
    what = concat(lost ? "" : "only ", accessWords(plan, plan.accesses[other->access]),
                  lost ? " has overwritten" : " has written");
  return {lost ? FaultKind::overwritten : FaultKind::readBeforeWrite,
          concat(accessWords(plan, placed), ": it reads ", bytesWords(plan, placed, begin, end),
                 ", which ", what),
          placed.number()};
}

} // namespace weir::planned
