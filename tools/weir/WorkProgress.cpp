//===- WorkProgress.cpp - How far along a piece of work is ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/WorkProgress.h"
#include "runtime/report/Progress.h"
#include "support/Number.h"
#include <algorithm>

namespace weir {

WorkProgress::WorkProgress(double total, std::FILE *out)
    : out(out), live(Progress::isLive(out)), total(total), start(Clock::now()), shown(start) {}

WorkProgress::~WorkProgress() { erase(); }

void WorkProgress::erase() {
  if (drawn)
    std::fputs("\r\x1b[K", out);
  drawn = false;
}

void WorkProgress::worked(double amount) {
  done += amount;
  auto now = Clock::now();
  double since = std::chrono::duration<double>(now - shown).count();
  if (since < (live ? 0.1 : 30) || done <= 0)
    return;
  shown = now;
  double share = std::min(done / total, 0.99);
  double left = std::chrono::duration<double>(now - start).count() * (1 - share) / share;
  erase();
  std::fprintf(out, "  %.0f %% done, ETA %s%s", 100 * share, duration(left).c_str(),
               live ? "" : "\n");
  std::fflush(out);
  drawn = live;
}

void WorkProgress::say(const std::string &line) {
  erase();
  std::fprintf(out, "%s\n", line.c_str());
}

} // namespace weir
