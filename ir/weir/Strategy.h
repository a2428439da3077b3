//===- Strategy.h - The strategy of a module -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_STRATEGY_H
#define WEIR_IR_WEIR_STRATEGY_H

#include "ir/weir/WeirDialect.h"
#include "strategy/Strategy.h"

namespace weir {

/// Of a module: a StrategyAttr, which passes read instead of options.
inline constexpr llvm::StringLiteral strategyAttrName = "weir.strategy";

/// What a StrategyAttr is unique by.
llvm::hash_code hash_value(const Strategy &strategy);

void setStrategy(mlir::ModuleOp module, const Strategy &strategy);

/// The module's strategy; where it has none, one of nothing but defaults. It lives as long as the
/// context does.
const Strategy &strategyOf(mlir::ModuleOp module);

} // namespace weir

#endif
