//===- Variables.cpp - Parameters, states and optimizer variables ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Variables.h"

namespace weir::elab {

Variable *Variables::add(Variable variable) {
  all.push_back(std::make_unique<Variable>(std::move(variable)));
  Variable *added = all.back().get();
  bySymbol[added->path.symbol] = added;
  return added;
}

Variable *Variables::find(const std::string &symbol) const {
  auto found = bySymbol.find(symbol);
  return found == bySymbol.end() ? nullptr : found->second;
}

} // namespace weir::elab
