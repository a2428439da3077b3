//===- Reports.cpp - Reports of a running training ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Reports.h"
#include "runtime/report/ChromeTrace.h"
#include "runtime/run/launch/Distributed.h"
#include "support/Text.h"

namespace weir {

Reports::Reports(Program &program, const artifact::Entry &step, const RunOptions &options)
    : program(program), options(options) {
  if (!options.gradients.empty())
    gradients.emplace(program, step, options.gradients);
  if (options.profile)
    profiler.emplace(program, step);
}

void Reports::open(const std::string &unit, int64_t done, int64_t total) {
  this->unit = unit;
  if (!options.metrics.empty())
    metrics.emplace(options.metrics, done);
  if (!options.tensorboard.empty())
    tensorboard.emplace(options.tensorboard);
  if (!options.trace.empty()) {
    // Written now as well, so that a place that cannot be written is known before the run, not
    // after.
    writeChromeTrace(options.trace, program.plan(), {});
  }
  constexpr size_t newestEvents = 1 << 16;
  if (!options.trace.empty() || profiler)
    program.trace(options.trace.empty() ? 0 : newestEvents, /*sums=*/profiler.has_value());
  if (gradients && isFirst(options))
    gradients->create();
  if (isFirst(options))
    progress.emplace(stderr, StatusLine::isLive(stderr), unit, done, total);
}

/// Writes to a file of reports, if there is one.
template <typename Sink, typename Write>
void Reports::attempt(std::optional<Sink> &sink, Write write) {
  if (!sink)
    return;
  try {
    write(*sink);
  } catch (const Failure &failure) {
    say(concat("warning: ", failure.what(), "; training continues without it"));
    sink.reset();
  }
}

void Reports::keepGradients() {
  if (gradients)
    gradients->keep();
}

void Reports::say(const std::string &line) {
  if (progress)
    progress->say(line);
}

void Reports::step(const StepRecord &record) {
  if (profiler)
    profiler->step(record);
  if (progress)
    progress->step(record);
  attempt(metrics, [&](MetricsFile &file) { file.step(record, unit); });
  attempt(tensorboard, [&](TensorBoard &file) { file.scalars(record.step, record.values); });
}

void Reports::told(double seconds) {
  if (profiler)
    profiler->told(seconds);
}

void Reports::evaluation(int64_t step, const Values &figures, double seconds) {
  attempt(metrics, [&](MetricsFile &file) { file.event("eval", step, figures, seconds); });
  attempt(tensorboard, [&](TensorBoard &file) { file.scalars(step, figures); });
}

void Reports::slowRank(int64_t step, const Stragglers::Change &change) {
  attempt(metrics, [&](MetricsFile &file) {
    file.event(change.isSlow ? "slow_rank" : "usual_rank", step,
               {{"rank", double(change.rank)}, {"median", change.median}}, change.seconds);
  });
}

void Reports::end(const std::string &event, int64_t step, const Values &results, double seconds) {
  attempt(metrics, [&](MetricsFile &file) { file.event(event, step, results, seconds); });
}

bool Reports::writeLast() {
  bool all = true;
  auto write = [&](auto part) {
    try {
      part();
    } catch (const Failure &failure) {
      say(concat("error: ", failure.what()));
      all = false;
    }
  };
  write([&] {
    if (!options.trace.empty())
      writeChromeTrace(options.trace, program.plan(), program.trace()->events());
  });
  write([&] {
    if (gradients && isFirst(options) && !gradients->write())
      say(concat("--gradients ", options.gradients,
                 ": there was no step left to run, so Weir writes no gradients"));
  });
  if (profiler) {
    std::optional<Profile> profile = profiler->profile();
    if (!profile)
      say("--profile: there was no step left to run, so there is no profile");
    else
      for (const std::string &line : profileText(*profile))
        say(line);
  }
  return all;
}

std::string Reports::profileJson() const {
  std::optional<Profile> profile = profiler ? profiler->profile() : std::nullopt;
  return profile ? weir::profileJson(*profile) : "";
}

} // namespace weir
