//===- WarpOps.cpp - Shuffles, ballots and the warp's barrier -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Meeting.h"
#include <bit>

#define WEIR_EMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace weir::emulated {
namespace {

/// Sets each lane's result from the value of the lane that `sourceOf` names; argument holds what
/// the shuffle was called with, and its width above bit 32.
template <typename SourceOf> const char *shuffle(Meeting *lanes, uint32_t mask, SourceOf sourceOf) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    int width = int(lanes[lane].argument >> 32), given = int(uint32_t(lanes[lane].argument));
    if (width < 1 || width > 32 || (width & (width - 1)))
      return "its width is no power of two up to 32";
    int first = lane / width * width;
    int source = sourceOf(lane, given, first, width);
    if (source < first || source >= first + width)
      source = lane;
    if (!(mask >> source & 1))
      return "a lane takes the value of one that the mask does not name";
    lanes[lane].result = lanes[source].value;
  }
  return nullptr;
}

const char *byXor(Meeting *lanes, uint32_t mask) {
  return shuffle(lanes, mask, [](int lane, int given, int, int) { return lane ^ given; });
}
const char *byIndex(Meeting *lanes, uint32_t mask) {
  return shuffle(lanes, mask, [](int, int given, int first, int width) {
    return first + (given & (width - 1));
  });
}
const char *byDown(Meeting *lanes, uint32_t mask) {
  return shuffle(lanes, mask, [](int lane, int given, int, int) { return lane + given; });
}
const char *byUp(Meeting *lanes, uint32_t mask) {
  return shuffle(lanes, mask, [](int lane, int given, int, int) { return lane - given; });
}

const char *ballot(Meeting *lanes, uint32_t mask) {
  uint32_t votes = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    votes |= uint32_t(lanes[std::countr_zero(rest)].value != 0) << std::countr_zero(rest);
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    lanes[std::countr_zero(rest)].result = votes;
  return nullptr;
}

const char *nothing(Meeting *, uint32_t) { return nullptr; }

} // namespace

/// `kind`: 0 xor, 1 index, 2 down, 3 up.
WEIR_EMULATED_EXPORT uint64_t weirEmulatedShuffle(int kind, uint32_t mask, uint64_t value,
                                                  int given, int width, const char *file,
                                                  int line) {
  static constexpr decltype(&byXor) works[] = {byXor, byIndex, byDown, byUp};
  Meeting mine;
  mine.mask = mask;
  mine.work = works[kind];
  mine.value = value;
  mine.argument = uint64_t(uint32_t(width)) << 32 | uint32_t(given);
  meet({"shuffle", file, line}, mine);
  return myMeeting().result;
}

WEIR_EMULATED_EXPORT uint32_t weirEmulatedBallot(uint32_t mask, int vote, const char *file,
                                                 int line) {
  Meeting mine;
  mine.mask = mask;
  mine.work = ballot;
  mine.value = vote != 0;
  meet({"ballot", file, line}, mine);
  return uint32_t(myMeeting().result);
}

WEIR_EMULATED_EXPORT void weirEmulatedSyncWarp(uint32_t mask, const char *file, int line) {
  Meeting mine;
  mine.mask = mask;
  mine.work = nothing;
  mine.ordersMemory = true;
  meet({"warp's barrier", file, line}, mine);
}

} // namespace weir::emulated
