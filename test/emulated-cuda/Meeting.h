//===- Meeting.h - Where the lanes of a warp meet -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_MEETING_H
#define WEIR_TEST_EMULATED_CUDA_MEETING_H

#include <cstdint>
#include <cstring>

namespace weir::emulated {

/// A place in a kernel where threads wait for each other.
struct Site {
  const char *what = "start", *file = "";
  int line = 0;
  bool operator==(const Site &other) const {
    return line == other.line && std::strcmp(what, other.what) == 0 &&
           (file == other.file || std::strcmp(file, other.file) == 0);
  }
};

/// What one lane brings to a meeting, and takes from it.
struct Meeting {
  uint32_t mask = 0; ///< the lanes that meet
  /// Called by the last to arrive, with the meetings of all 32 lanes: sets the results of those in
  /// the mask. A text says why it cannot.
  const char *(*work)(Meeting *lanes, uint32_t mask) = nullptr;
  bool ordersMemory = false;
  uint64_t value = 0, argument = 0, result = 0;
  void *data = nullptr; ///< of operations with more to say
};

/// The running thread waits until all lanes of its mask are there.
void meet(const Site &site, const Meeting &mine);

/// That of the running thread, with its result.
const Meeting &myMeeting();

} // namespace weir::emulated

#endif
