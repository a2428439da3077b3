//===- Variables.h - Parameters, states and optimizer variables -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_VARIABLES_H
#define WEIR_FRONTEND_ELABORATE_VARIABLES_H

#include "frontend/elaborate/Value.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::elab {

/// A parameter, state or optimizer variable of the program.
struct Variable {
  ModelPath path;
  Role role;
  mlir::RankedTensorType type;
  Dims dims;
  Range range;
  Range place; ///< in the model file: `range`, or the call of the prelude that declares it
  mlir::Location location;
  mlir::Value initial; ///< in init
};

/// What an optimizer works on.
struct OptimizerTarget {
  const Variable *parameter;
  std::string name; ///< of the argument that is the parameter: `p`
  mlir::Value next; ///< null: unchanged
};

/// The program's variables, in the order of their declarations.
class Variables {
public:
  Variable *add(Variable variable);
  /// By the symbol of its path; null where there is none.
  Variable *find(const std::string &symbol) const;

  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }

private:
  std::vector<std::unique_ptr<Variable>> all;
  std::map<std::string, Variable *> bySymbol;
};

} // namespace weir::elab

#endif
