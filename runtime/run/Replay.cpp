//===- Replay.cpp - Runs a step again and examines it ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Training that --nan trace and --replay use. A skipped step has changed only the run's
// counter and the loss scale, and its data and random numbers follow from its number. With both
// reset, it is the same step again, now with an observer. Before that, no observer slows the run
// down.
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/OriginObserver.h"
#include "runtime/run/Results.h"
#include "runtime/run/Training.h"
#include "support/Number.h"
#include "support/Text.h"
#include "support/program/Names.h"
#include <algorithm>
#include <cmath>

namespace weir {
namespace {

bool wasSkipped(const Values &values) { return valueOf(values, "skipped", 0) != 0; }

bool isFinite(const Values &values) {
  return !wasSkipped(values) && std::isfinite(valueOf(values, "loss", 0)) &&
         std::isfinite(valueOf(values, "grad_norm", 0));
}

/// "loss 0.5 where it was nan" of the first that differs; "" where none does.
std::string difference(const Values &before, const Values &now) {
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    double was = before[i].second, is = now[i].second;
    if (was != is && !(std::isnan(was) && std::isnan(is)))
      return concat(now[i].first, " ", is, " where it was ", was);
  }
  return "";
}

/// The tensors of a step with the largest magnitudes, each as large as it was.
class Largest {
public:
  void add(const ActionPlace &place, const ActionOperand &tensor, const Statistics &statistics) {
    if (statistics.finite() == 0 || statistics.largest == 0)
      return;
    auto same = std::find_if(all.begin(), all.end(), [&](const One &one) {
      return one.place.action == place.action && one.tensor.ref.memory() == tensor.ref.memory() &&
             one.tensor.ref.index() == tensor.ref.index() &&
             one.tensor.ref.offset() == tensor.ref.offset();
    });
    if (same == all.end())
      all.push_back({place, tensor, statistics});
    else if (same->statistics.largest < statistics.largest)
      *same = {place, tensor, statistics};
    std::stable_sort(all.begin(), all.end(), [](const One &a, const One &b) {
      return a.statistics.largest > b.statistics.largest;
    });
    constexpr size_t most = 10;
    all.resize(std::min(all.size(), most));
  }

  std::vector<std::string> lines(const Actions &actions) const {
    std::vector<std::string> lines;
    for (const auto &[place, tensor, statistics] : all) {
      std::string at = actions.lines(place.action);
      lines.push_back(concat("  ", formatted("%-11.4g", statistics.largest), " ",
                             actions.nameOf(tensor.ref), ", of ", actions.describe(place),
                             at.empty() ? "" : ", " + at, ": ", statistics.text(tensor.shape)));
    }
    return lines;
  }

private:
  struct One {
    ActionPlace place;
    ActionOperand tensor;
    Statistics statistics;
  };
  std::vector<One> all;
};

} // namespace

/// Everything is as it was when the last step, which was skipped and gave `bad`, began.
void Training::rewind(const Values &bad) {
  writeRunScalar(program, "step", static_cast<int32_t>(done - 1));
  if (double scale = valueOf(bad, lossScaleOutput, 0); scale >= 1)
    writeRunScalar(program, "loss_scale", static_cast<int32_t>(scale));
  Prefetcher again(data.trainedOn(), sampler, stepRows, keptRows(program, stepEntry), done - 1,
                   done);
  writeInputs(program, stepEntry, data.trainedOn(), again.next());
}

/// Says where what is not finite begins in the last step, which gave `bad`.
void Training::traceStep(const Values &bad) {
  if (!wasSkipped(bad)) {
    reports.say(concat("step ", done, " was not skipped, so Weir cannot replay it"));
    return;
  }
  rewind(bad);
  Flow flow(program, stepEntry);
  program.run(stepEntry);
  std::string differs = difference(bad, readOutputs());
  if (!differs.empty())
    reports.say(concat("step ", done, ", when replayed, gives a different result: ", differs,
                       ". The same step always gives the same bits: the machine's memory or "
                       "processor may be faulty"));
  tellOrigin(flow, bad);
}

/// After a run of the last step, which gave `bad`, that `flow` has followed.
void Training::tellOrigin(const Flow &flow, const Values &bad) {
  std::optional<size_t> origin = flow.origin();
  if (!origin) {
    reports.say(concat("step ", done, ": all values that it computes are finite"));
    return;
  }
  std::vector<std::string> lines;
  if (const std::optional<ActionPlace> &place = flow.source(*origin).place; !place) {
    lines = tellGiven(flow, *origin);
  } else {
    std::unique_ptr<OpFinder> finder = options.findOps ? options.findOps(program) : nullptr;
    rewind(bad);
    OriginObserver observer(program, flow.actions, *place, finder.get());
    program.run(stepEntry);
    lines = tellMade(flow, *origin, observer);
  }
  lines.front() = concat("step ", done, ": the first non-finite value ", lines.front());
  for (const std::string &line : lines)
    reports.say(line);
}

Exit Training::replay(const Signals &signals) {
  announce();
  initialize();
  reports.open(data.unit(), done, options.replay);
  Prefetcher prefetcher(data.trainedOn(), sampler, stepRows, keptRows(program, stepEntry), done,
                        options.replay);
  while (done < options.replay - 1) {
    Clock::time_point begun = Clock::now();
    writeInputs(program, stepEntry, data.trainedOn(), prefetcher.next());
    startStep(begun, 0, 0);
    finishStep();
    if (int signal = signals.received()) {
      reports.say(concat(Signals::name(signal), ": stopped after step ", done));
      Signals::die(signal);
    }
  }
  skips.abortNow();
  writeInputs(program, stepEntry, data.trainedOn(), prefetcher.next());
  Flow flow(program, stepEntry);
  Largest largest;
  flow.onWritten = [&](const ActionPlace &place, const ActionOperand &tensor,
                       const Statistics &statistics) { largest.add(place, tensor, statistics); };
  started.push_back({program.start(stepEntry), Clock::now(), Clock::now(), 0, 0});
  try {
    finishStep();
  } catch (const Failure &failure) {
    if (failure.exit == Exit::numeric && wasSkipped(last))
      tellOrigin(flow, last);
    throw;
  }
  if (!isFinite(last)) {
    tellOrigin(flow, last); // an overflow that ends no run
  } else {
    reports.say(concat("step ", done, " is finite; its largest tensors by magnitude:"));
    for (const std::string &line : largest.lines(flow.actions))
      reports.say(line);
  }
  bool reported = reports.writeLast();
  Values results = last;
  results.insert(results.begin(), {"step", static_cast<double>(done)});
  reports.close();
  printResults(results, options, secondsSince(began), reports.profileJson());
  return reported ? Exit::ok : Exit::storage;
}

} // namespace weir
