//===- Progress.cpp - A run as someone watches it -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Progress.h"
#include "support/Number.h"
#include "support/Text.h"
#include "support/program/Names.h"

namespace weir {
namespace {

/// About twenty lines a run, at round numbers.
int64_t plainInterval(int64_t steps) {
  constexpr int64_t lines = 20;
  for (int64_t scale = 1;; scale *= 10)
    for (int64_t round : {1, 2, 5})
      if (round * scale >= steps / lines + (steps % lines != 0))
        return round * scale;
}

} // namespace

Progress::Progress(std::FILE *out, bool live, std::string unit, int64_t firstStep,
                   int64_t totalSteps)
    : status(out, live), unit(std::move(unit)), total(totalSteps),
      every(plainInterval(totalSteps - firstStep)), shown(Clock::now()) {}

std::string Progress::line(const StepRecord &record) const {
  std::string text = concat("step ", record.step, "/", total);
  for (const auto &[name, value] : record.values) {
    // Of use in files and charts; here the line has to fit.
    if (name == "grad_norm" || name == "skipped")
      continue;
    const char *format = name == "lr" ? "%.3g" : name == lossScaleOutput ? "%.0f" : "%.4f";
    text += concat("  ", name, " ", formatted(format, value));
  }
  text +=
      concat("  ", formatted("%.1f", 1e3 * stepSeconds), " ms/step  ", withThousands(rate), " ",
             unit, "/s  ETA ", duration(stepSeconds * static_cast<double>(total - record.step)));
  return text;
}

void Progress::step(const StepRecord &record) {
  seconds += record.seconds;
  units += record.units;
  ++steps;
  auto now = Clock::now();
  std::chrono::duration<double> since = now - shown;
  bool last = record.step == total;
  // Ten times a second on a terminal; elsewhere at round steps, and not silent for longer than half
  // a minute.
  bool due = status.live ? since.count() >= 0.1 : record.step % every == 0 || since.count() >= 30;
  if (!due && !last && !first)
    return;
  first = false;
  stepSeconds = seconds / static_cast<double>(steps);
  rate = seconds > 0 ? units / seconds : 0;
  seconds = units = 0;
  steps = 0;
  shown = now;
  status.show(line(record));
}

} // namespace weir
