//===- SharedOptions.cpp - Options that all ranks of a run share ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/SharedOptions.h"
#include "runtime/data/Dataset.h"
#include "support/Number.h"
#include "support/Text.h"
#include <algorithm>

namespace weir {
namespace {

struct SharedOption {
  const char *name;
  std::string (*value)(const RunOptions &);
};

std::string givenOrNot(bool is) { return is ? "given" : "not given"; }

std::string inputsOf(const char *option, const std::vector<std::string> &sources) {
  std::vector<std::string> names;
  for (const std::string &source : sources)
    names.push_back(parseSource(option, source).input);
  std::ranges::sort(names);
  return names.empty() ? givenOrNot(false) : concat("for ", join(names));
}

std::string orRecipe(int64_t number) { return number ? std::to_string(number) : "the recipe's"; }

constexpr SharedOption sharedTable[] = {
    {"--data", [](const RunOptions &o) { return inputsOf("--data", o.data); }},
    {"--eval-data", [](const RunOptions &o) { return inputsOf("--eval-data", o.evalData); }},
    {"--holdout", [](const RunOptions &o) { return shortest(o.holdout); }},
    {"--no-shuffle", [](const RunOptions &o) { return givenOrNot(o.noShuffle); }},
    {"--steps", [](const RunOptions &o) { return orRecipe(o.steps); }},
    {"--epochs", [](const RunOptions &o) { return orRecipe(o.epochs); }},
    {"--seed",
     [](const RunOptions &o) { return std::to_string(o.seed.value_or(RunOptions::defaultSeed)); }},
    {"--init", [](const RunOptions &o) { return givenOrNot(!o.init.empty()); }},
    {"--init-partial", [](const RunOptions &o) { return givenOrNot(!o.initPartial.empty()); }},
    {"--eval-every",
     [](const RunOptions &o) {
       return o.evalEvery ? std::to_string(o.evalEvery) : givenOrNot(false);
     }},
    {"--nan", [](const RunOptions &o) { return o.nan; }},
    {"--nan-limit",
     [](const RunOptions &o) {
       return std::to_string(o.nanLimit.value_or(RunOptions::defaultNanLimit));
     }},
    {"--device",
     [](const RunOptions &o) {
       return o.device.kind.empty() ? "the artifact's device" : o.device.kind;
     }},
    {"--checkpoint", [](const RunOptions &o) { return givenOrNot(!o.checkpoint.empty()); }},
    {"--checkpoint-every", [](const RunOptions &o) { return std::to_string(o.every); }},
    {"--keep-checkpoints", [](const RunOptions &o) { return std::to_string(o.keep); }},
    {"--async-checkpoint", [](const RunOptions &o) { return givenOrNot(o.asyncCheckpoint); }},
    {"--resume", [](const RunOptions &o) { return givenOrNot(o.resume); }},
    {"--extend", [](const RunOptions &o) { return givenOrNot(o.extend); }},
    {"--replay",
     [](const RunOptions &o) { return o.replay ? std::to_string(o.replay) : givenOrNot(false); }},
    {"--change",
     [](const RunOptions &o) {
       std::vector<std::string> names = o.change;
       std::ranges::sort(names);
       return names.empty() ? givenOrNot(false) : join(names, ",");
     }},
    {"--gradients", [](const RunOptions &o) { return givenOrNot(!o.gradients.empty()); }},
};

// Rank 0 alone reports. Threads, memory, the network and how often a process is started again are a
// machine's. A process that was given no --peak-flops counts as rank 0 does. Ranks of one machine
// that differ in --trust-network never meet, so there is nothing to compare: enter() names it.
constexpr const char *ownTable[] = {"--threads",    "--no-graph",      "--offload-dir",
                                    "--rendezvous", "--trust-network", "--collective-timeout",
                                    "--restarts",   "--metrics",       "--tensorboard",
                                    "--trace",      "--profile",       "--peak-flops",
                                    "--json",       "--poison"};

} // namespace

std::vector<collectives::Given> sharedOptions(const RunOptions &options) {
  std::vector<collectives::Given> all;
  for (const SharedOption &option : sharedTable)
    all.push_back({option.name, option.value(options), ""});
  all.insert(all.end(), options.alsoShared.begin(), options.alsoShared.end());
  return all;
}

std::span<const char *const> ownOptions() { return ownTable; }

} // namespace weir
