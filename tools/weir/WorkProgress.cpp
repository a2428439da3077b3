//===- WorkProgress.cpp - How far along a piece of work is ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/WorkProgress.h"
#include "support/Number.h"
#include <algorithm>

namespace weir {

WorkProgress::WorkProgress(double total, std::FILE *out)
    : status(out), total(total), start(Clock::now()), shown(start) {}

void WorkProgress::worked(double amount) {
  done += amount;
  auto now = Clock::now();
  double since = std::chrono::duration<double>(now - shown).count();
  if (since < (status.live ? 0.1 : 30) || done <= 0)
    return;
  shown = now;
  double share = std::min(done / total, 0.99);
  double left = std::chrono::duration<double>(now - start).count() * (1 - share) / share;
  status.show(formatted("  %.0f %% done, ETA ", 100 * share) + duration(left));
}

} // namespace weir
