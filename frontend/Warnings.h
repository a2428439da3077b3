//===- Warnings.h - What is no mistake, but probably not meant -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every warning has a name, printed after it as [-Wname] and silenced by -Wno-name. They are about
// the user's file, never about the prelude, and are given only where there is no error.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_WARNINGS_H
#define WEIR_FRONTEND_WARNINGS_H

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

enum class Warning {
  unusedConfig,
  unusedDefinition,
  unusedArgument,
  unusedBinding,
  unusedInput,
  unusedState,
  unusedParameter,
  unusedUpdate,
  nothingToTrain,
  untrainedParameter,
  secondModel,
  shortWarmup,
  largeLearningRate,
  lossOfProbabilities,
  labelsAreInputs,
  commentedDivision,
};

/// "unused-binding"
const char *nameOf(Warning warning);
std::optional<Warning> warningNamed(std::string_view name);
std::vector<std::string> warningNames();

struct WarningOptions {
  std::set<Warning> silenced;
  bool areErrors = false; ///< -Werror
};

} // namespace weir

#endif
