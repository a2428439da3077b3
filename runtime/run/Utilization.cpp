//===- Utilization.cpp - MFU and HFU --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Utilization.h"
#include "artifact/Flops.h"
#include "artifact/Sharding.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/cpu/ThreadPool.h"
#include "runtime/devices/Devices.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/Text.h"
#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>

namespace weir {

std::optional<double> readPeak(const std::string &text) {
  if (text == "measure")
    return std::nullopt;
  // No machine has less than one, nor more than all of today's together.
  constexpr double least = 1, most = 1e24;
  constexpr std::pair<char, double> units[] = {
      {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}, {'P', 1e15}};
  double number = 0, unit = 1;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest + 1 == end)
    for (auto [letter, times] : units)
      if (*rest == letter) {
        unit = times;
        ++rest;
        break;
      }
  double flops = number * unit;
  if (error != std::errc() || rest != end || !(flops >= least && flops <= most))
    throw std::invalid_argument(concat(
        "expected FLOPs per second such as 1.5T, 900G or 2e12, or measure; found '", text, "'"));
  return flops;
}

/// The threads of a process that shares its cores with the others beside it.
static int threadsOf(const DeviceOptions &options) {
  if (options.threads > 0 || !options.group)
    return options.threads;
  return std::max(1, cpu::availableCores() / int(options.group->neighbours()));
}

Utilization::Utilization(const artifact::Program &program, const artifact::Entry &step,
                         const RunOptions &options) {
  if (!options.peakFlops.empty())
    findPeak(program, step, options);
  addOthers(program, options);
}

/// That of this process's device, or of one of its GPUs.
void Utilization::findPeak(const artifact::Program &program, const artifact::Entry &step,
                           const RunOptions &options) {
  if (step.model_flops())
    model = *step.model_flops();
  executed = artifact::executedByAll(program, step.name()->string_view()).products;
  peak = readPeak(options.peakFlops);
  measured = !peak;
  if (peak)
    return;
  const DeviceKind &kind = deviceKind(program, options.device);
  if (!kind.measurePeak)
    throw Failure(Exit::usage,
                  concat("--peak-flops measure: Weir cannot measure the peak of the device '",
                         kind.name, "'; give the number, as in --peak-flops 989T"));
  Element factors = artifact::multipliedBy(program, step.name()->string_view());
  multiplied = nameOf(factors);
  peak = kind.measurePeak(factors, threadsOf(options.device));
}

/// A step is that of all ranks, and so is the peak: processes tell each other theirs, and who has
/// been given none counts as this one. Ranks that are threads of one process have a GPU each, or
/// share the machine.
void Utilization::addOthers(const artifact::Program &program, const RunOptions &options) {
  if (Group *group = options.device.group) {
    double own = peak.value_or(0), sum = 0;
    for (int64_t bits :
         collectives::fromAll(*group, "the start of the run", std::bit_cast<int64_t>(own))) {
      double theirs = std::bit_cast<double>(bits);
      sum += theirs > 0 ? theirs : own;
    }
    devices = group->size();
    if (peak)
      peak = sum;
  } else if (peak && !deviceKind(program, options.device).isHosts) {
    devices = artifact::meshOf(program).ranks();
    *peak *= static_cast<double>(devices);
  }
}

std::string Utilization::notice() const {
  if (!peak)
    return "";
  std::string text =
      concat("peak: ", formatted("%.4g", *peak / 1e9), " GFLOP/s",
             devices > 1 ? concat(" of ", devices, " devices together, ") : ", ",
             measured ? concat("measured with products of ", multiplied) : "as given");
  if (!model || !executed)
    text += "; the artifact does not record the FLOPs of a step: compile the model again for mfu "
            "and hfu";
  return text;
}

std::optional<double> Utilization::of(std::optional<double> flops, double seconds) const {
  if (!flops || !peak || seconds <= 0)
    return std::nullopt;
  return *flops / seconds / *peak;
}

void Utilization::add(StepRecord &record) {
  record.mfu = of(model, record.seconds);
  record.hfu = of(executed, record.seconds);
  (steps++ == 0 ? first : later) += record.seconds;
}

void Utilization::addTo(Values &results) const {
  if (!peak)
    return;
  results.emplace_back("peak_flops", *peak);
  results.emplace_back("peak_measured", measured);
  double seconds = steps > 1 ? later / static_cast<double>(steps - 1) : first;
  if (std::optional<double> mfu = of(model, seconds))
    results.emplace_back("mfu", *mfu);
  if (std::optional<double> hfu = of(executed, seconds))
    results.emplace_back("hfu", *hfu);
}

} // namespace weir
