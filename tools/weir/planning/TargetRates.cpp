//===- TargetRates.cpp - How fast devices are taken to be -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/planning/TargetRates.h"
#include "codegen/targets/Targets.h"
#include "support/Error.h"

namespace weir {

Rates ratesOfTarget(const std::string &target) {
  // What an artifact demands of a CPU is a level alone.
  std::unique_ptr<Target> made = makeTarget(target);
  if (!made)
    made = makeTarget("cpu:" + target);
  if (!made)
    throw Failure(Exit::model, "the speed of " + target +
                                   " is not known: give --rates, such as 400TFLOP/s,3TB/s");
  constexpr double much = 1e15;
  return {much / made->secondsOf(much, 0), much / made->secondsOf(0, much)};
}

} // namespace weir
