//===- Rules.h - One small rule per op ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule takes operands from a scope's pool, makes its op (with what the op needs around it) and
// gives the results to the pool. It throws Refused where it cannot.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_RULES_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_RULES_H

#include "tools/dev/weir-smith/Scope.h"

namespace weir::smith {

struct Rule {
  llvm::StringRef op; ///< without the dialect
  void (*build)(Scope &);
};

/// The rules by family.
llvm::ArrayRef<Rule> elementwiseRules();
llvm::ArrayRef<Rule> structureRules();
llvm::ArrayRef<Rule> computeRules();
llvm::ArrayRef<Rule> compositeRules();

/// All of them.
llvm::ArrayRef<Rule> rules();

/// Ops that no rule makes, since every program has them: its variables, its step, its kernels.
llvm::ArrayRef<llvm::StringRef> programOps();

} // namespace weir::smith

#endif
