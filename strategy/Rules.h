//===- Rules.h - Constraints between the fields of a strategy ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_RULES_H
#define WEIR_STRATEGY_RULES_H

#include "strategy/Strategy.h"
#include <span>

namespace weir::strategy {

/// What a strategy is for, and what is left to the compiler.
struct Context {
  std::string target;            ///< "cpu:x86-64-v3", as --target says it
  std::vector<Mesh> others = {}; ///< meshes that the artifact is for besides the strategy's
  bool choseMesh = false;        ///< the mesh was "auto" and is chosen
  bool choosesMicrobatches = false, choosesOffload = false; ///< they are "auto"
  bool memoryIsHere = false;                                ///< the budget is this machine's memory

  bool isCpu() const { return target.starts_with("cpu"); }
};

/// A constraint. Rules are checked in the order of rules(); each may rely on those before it.
struct Rule {
  std::string_view name;
  /// "", or what is wrong and what to do, in terms of the options.
  std::string (*broken)(const Strategy &, const Context &);
};

std::span<const Rule> rules();

/// The message of the first rule that is broken, or "".
std::string brokenRule(const Strategy &strategy, const Context &context);
/// The same of the rule of this name, which has to be there.
std::string brokenRule(const Strategy &strategy, std::string_view name, const Context &context);

} // namespace weir::strategy

#endif
