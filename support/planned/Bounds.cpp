//===- Bounds.cpp - Checks that accesses and buffers are in bounds --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/Text.h"
#include "support/planned/FlatPlan.h"
#include "support/planned/Words.h"

namespace weir::planned {
namespace {

/// So that a distance between two bytes of a space is an int64_t.
constexpr uint64_t maxSpace = uint64_t(1) << 62;

using Wide = __int128;

/// The first byte that an access touches in any of its rounds, and the one behind the last, counted
/// from its buffer's start.
struct Extent {
  Wide begin, end;
  bool wraps = false;

  explicit Extent(const Placed &placed)
      : begin(placed.access->offset), end(begin + placed.access->bytes) {
    for (const Motion &motion : placed.motions)
      add(motion.bytes, motion.last);
    for (const Dim &dim : placed.access->dims)
      add(dim.stride, dim.count - 1);
  }

private:
  void add(int64_t stride, uint64_t times) {
    Wide travel = Wide(stride) * times; // below 2^127
    Wide &side = travel < 0 ? begin : end;
    wraps |= __builtin_add_overflow(side, travel, &side);
  }
};

std::string number(Wide value) {
  if (value > INT64_MAX || value < INT64_MIN)
    return value < 0 ? "below -2^63" : "beyond 2^63";
  return std::to_string(int64_t(value));
}

Finding checkBuffer(const Entry &entry, uint32_t index) {
  const Buffer &buffer = entry.buffers[index];
  uint64_t room = entry.sizes[size_t(buffer.space)];
  auto fail = [&](FaultKind kind, const std::string &what) {
    return Fault{kind, bufferWords(entry, index) + ": " + what};
  };
  // A variable may be another stage's: nobody touches it here.
  if (buffer.size == 0 && !buffer.holds)
    return fail(FaultKind::emptyBuffer, "it has no bytes");
  if (buffer.offset % limits::alignment)
    return fail(FaultKind::misaligned,
                concat("its offset ", buffer.offset, " is no multiple of ", limits::alignment));
  if (room > maxSpace)
    return fail(FaultKind::bufferOutsideSpace, "its space is larger than 2^62 bytes");
  if (buffer.offset > room || buffer.size > room - buffer.offset)
    return fail(FaultKind::bufferOutsideSpace,
                concat(buffer.size, " bytes at offset ", buffer.offset, " of a space of ", room));
  return {};
}

Finding checkAccess(const FlatPlan &plan, const Placed &placed) {
  const Buffer &buffer = plan.entry.buffers[placed.buffer];
  Extent extent(placed);
  if (extent.wraps || extent.begin < 0 || extent.end > Wide(buffer.size))
    return Fault{FaultKind::accessOutsideBuffer,
                 concat(accessWords(plan, placed), ": it takes bytes [", number(extent.begin), ", ",
                        number(extent.end), ") of ", buffer.size),
                 placed.number()};
  if (placed.writes && placed.space == Space::constant)
    return Fault{FaultKind::writeToConstant,
                 accessWords(plan, placed) + ": it writes what is constant", placed.number()};
  return {};
}

} // namespace

Finding checkBounds(const FlatPlan &plan) {
  for (uint32_t i = 0; i < plan.entry.buffers.size(); ++i)
    if (Finding fault = checkBuffer(plan.entry, i))
      return fault;
  for (const Placed &placed : plan.accesses)
    if (placed.access)
      if (Finding fault = checkAccess(plan, placed))
        return fault;
  return {};
}

} // namespace weir::planned
