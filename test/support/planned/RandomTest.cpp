//===- RandomTest.cpp - Random planned entries against the oracle -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Verify.h"
#include "test/support/planned/Oracle.h"
#include "test/support/planned/RandomPlans.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <map>

namespace weir::planned {
namespace {

// More for a search by hand: WEIR_PLANS=1000000 WEIR_SEED=7 support-planned-test.
uint32_t fromEnvironment(const char *name, uint32_t otherwise) {
  const char *value = std::getenv(name);
  return value ? std::strtoul(value, nullptr, 10) : otherwise;
}

// The oracle's names are coarser.
FaultKind coarse(FaultKind kind) {
  return kind == FaultKind::overwritten       ? FaultKind::readBeforeWrite
         : kind == FaultKind::inputNotVisible ? FaultKind::queueNotForked
                                              : kind;
}

TEST(RandomPlans, AreJudgedAsTheOracleDoes) {
  uint32_t plans = fromEnvironment("WEIR_PLANS", 10000);
  Random random(fromEnvironment("WEIR_SEED", 1));
  uint32_t accepted = 0, refused = 0, unproven = 0, tooLarge = 0, shortened = 0,
           acceptedShortened = 0;
  std::map<FaultKind, uint32_t> kinds;
  for (uint32_t i = 0; i < plans; ++i) {
    Entry entry = randomPlan(random);
    std::optional<std::set<FaultKind>> faults = faultsOf(entry);
    if (!faults) {
      ++tooLarge;
      continue;
    }
    Verdict verdict = verify(entry);
    const Finding &found = verdict.fault;
    shortened += verdict.roundsLeftOut > 0;
    if (!found) {
      ++accepted;
      acceptedShortened += verdict.roundsLeftOut > 0;
      ASSERT_TRUE(faults->empty()) << "plan " << i << " is accepted: " << text(*faults->begin());
    } else if (found->kind == FaultKind::tooLongToProve) {
      ++unproven;
    } else {
      ++refused;
      ++kinds[found->kind];
      ASSERT_TRUE(faults->count(coarse(found->kind)))
          << "plan " << i << " is refused: " << text(found->kind) << ": " << found->message;
    }
  }
  std::cout << accepted << " accepted, " << refused << " refused, " << unproven << " unproven, "
            << tooLarge << " too large for the oracle; rounds left out in " << shortened << ", "
            << acceptedShortened << " of them accepted\n";
  if (std::getenv("WEIR_PLANS"))
    for (auto [kind, count] : kinds)
      std::cout << "  " << count << " " << text(kind) << "\n";
  EXPECT_GT(accepted, plans / 5);
  EXPECT_GT(refused, plans / 5);
  EXPECT_GT(acceptedShortened, plans / 20);
  EXPECT_LT(unproven, plans / 100);
}

TEST(RandomPlans, OfAnyValuesEndInAVerdict) {
  uint32_t plans = fromEnvironment("WEIR_PLANS", 10000);
  Random random(fromEnvironment("WEIR_SEED", 1));
  std::map<FaultKind, uint32_t> kinds;
  Limits limits;
  limits.steps = 20000;
  for (uint32_t i = 0; i < plans; ++i) {
    Verdict verdict = verify(garbage(random), limits);
    if (verdict.fault)
      ++kinds[verdict.fault->kind];
    ASSERT_LT(verdict.steps, 3 * limits.steps);
  }
  EXPECT_GT(kinds.size(), 15u);
}

} // namespace
} // namespace weir::planned
