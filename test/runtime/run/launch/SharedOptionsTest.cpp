//===- SharedOptionsTest.cpp - Options that all ranks of a run share ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/SharedOptions.h"
#include "test/runtime/LocalGroup.h"
#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <set>

using namespace weir;

namespace {

RunOptions parsed(const std::string &words) {
  RunOptions options;
  CLI::App app;
  addRunOptions(app, options);
  app.parse(words);
  return options;
}

/// What two ranks are told that are given so.
std::string told(const std::string &first, const std::string &other) {
  auto failures = LocalGroups(2).run([&](Group &group) {
    collectives::requireSameGiven(group, "comparing options",
                                  sharedOptions(parsed(group.rank() ? other : first)));
  });
  EXPECT_EQ(failures[0], failures[1]);
  return failures[0];
}

std::string refused(const std::string &line) {
  return "the ranks of this run differ in their options or files:\n  " + line +
         "\nStart every rank with the same options and with identical files";
}

} // namespace

/// A new option has to be put into one of the tables.
TEST(SharedOptions, EveryOptionIsSharedOrARanksOwn) {
  RunOptions options;
  CLI::App app;
  addRunOptions(app, options);
  std::multiset<std::string> all, known(ownOptions().begin(), ownOptions().end());
  for (const CLI::Option *option : app.get_options())
    if (std::string name = option->get_lnames().at(0); name != "help") // also of hidden ones
      all.insert("--" + name);
  for (const collectives::Given &given : sharedOptions(options))
    known.insert(given.name);
  EXPECT_EQ(all, known);
}

TEST(SharedOptions, OwnOptionsMayDiffer) {
  EXPECT_EQ(told("--threads 1 --metrics a.jsonl --checkpoint here --init a --restarts 3",
                 "--threads 2 --json --checkpoint there --init b --peak-flops 1T"),
            "");
}

TEST(SharedOptions, ADefaultIsAValue) {
  EXPECT_EQ(told("--checkpoint a --checkpoint-every 500 --keep-checkpoints 3 --nan abort --seed 1",
                 "--checkpoint a"),
            "");
}

TEST(SharedOptions, EachDifferenceIsNamedWithBothValues) {
  struct Case {
    const char *first, *other, *line;
  };
  constexpr Case cases[] = {
      {"--data x=a", "--data y=a", "--data: for x on rank 0, for y on rank 1"},
      {"--eval-data x=a", "", "--eval-data: for x on rank 0, not given on rank 1"},
      {"--holdout 0.1", "--holdout 0.2", "--holdout: 0.1 on rank 0, 0.2 on rank 1"},
      {"", "--no-shuffle", "--no-shuffle: not given on rank 0, given on rank 1"},
      {"--steps 5", "", "--steps: 5 on rank 0, the recipe's on rank 1"},
      {"--epochs 2", "--epochs 3", "--epochs: 2 on rank 0, 3 on rank 1"},
      {"", "--seed 7", "--seed: 1 on rank 0, 7 on rank 1"},
      {"--init a", "", "--init: given on rank 0, not given on rank 1"},
      {"", "--init-partial a", "--init-partial: not given on rank 0, given on rank 1"},
      {"--eval-every 3", "--eval-every 4", "--eval-every: 3 on rank 0, 4 on rank 1"},
      {"--nan skip", "", "--nan: skip on rank 0, abort on rank 1"},
      {"--nan-limit 7", "", "--nan-limit: 7 on rank 0, 20 on rank 1"},
      {"--device null", "", "--device: null on rank 0, the artifact's device on rank 1"},
      {"--checkpoint a", "", "--checkpoint: given on rank 0, not given on rank 1"},
      {"--checkpoint a --checkpoint-every 9", "--checkpoint a",
       "--checkpoint-every: 9 on rank 0, 500 on rank 1"},
      {"--checkpoint a", "--checkpoint a --keep-checkpoints 1",
       "--keep-checkpoints: 3 on rank 0, 1 on rank 1"},
      {"--checkpoint a --async-checkpoint", "--checkpoint a",
       "--async-checkpoint: given on rank 0, not given on rank 1"},
      {"--checkpoint a --resume", "--checkpoint a",
       "--resume: given on rank 0, not given on rank 1"},
      {"--checkpoint a --resume --extend", "--checkpoint a --resume",
       "--extend: given on rank 0, not given on rank 1"},
      {"--checkpoint a --replay 4", "--checkpoint a --replay 5",
       "--replay: 4 on rank 0, 5 on rank 1"},
      {"--change data,model", "--change data", "--change: data,model on rank 0, data on rank 1"},
      {"--gradients a", "", "--gradients: given on rank 0, not given on rank 1"},
  };
  std::set<std::string> named;
  for (const Case &one : cases) {
    EXPECT_EQ(told(one.first, one.other), refused(one.line));
    named.insert(std::string(one.line, std::string(one.line).find(':')));
  }
  EXPECT_EQ(named.size(), sharedOptions({}).size());
}

TEST(SharedOptions, SeveralDifferencesOfSeveralRanks) {
  const std::string words[] = {"--steps 5 --seed 3", "--steps 5 --seed 3", "--steps 6 --nan skip",
                               "--steps 7"};
  auto failures = LocalGroups(4).run([&](Group &group) {
    collectives::requireSameGiven(group, "comparing options",
                                  sharedOptions(parsed(words[group.rank()])));
  });
  for (const std::string &failure : failures)
    EXPECT_EQ(failure, refused("--steps: 5 on rank 0, 6 on rank 2\n  --seed: 3 on rank 0, 1 on "
                               "rank 2\n  --nan: abort on rank 0, skip on rank 2"));
}
