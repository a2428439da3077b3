//===- Entry.h - One entry of the program, while it is walked -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_ENTRY_H
#define WEIR_FRONTEND_ELABORATE_ENTRY_H

#include "frontend/elaborate/Indexing.h"
#include "frontend/elaborate/Variables.h"

#include "llvm/ADT/MapVector.h"

namespace weir::elab {

/// Who has a path of the program.
struct PathClaim {
  std::shared_ptr<Instance> owner;    ///< in whose body it was claimed
  Range range;                        ///< last claimed
  std::shared_ptr<Instance> instance; ///< the one that is there; null for variables
  uint64_t execution = 0;             ///< of the owner's body, in which it was last claimed
};
using PathClaims = std::map<std::string, PathClaim>; ///< by symbol

enum class EntryKind { step, eval, predict };

/// What one entry's walk has met so far.
struct Entry {
  EntryKind kind = EntryKind::step;
  bool training = false;
  mlir::func::FuncOp function;
  mlir::Operation *lastRead = nullptr; ///< reads stand first in the function
  std::map<std::string, mlir::Value> reads;
  llvm::DenseMap<const Variable *, mlir::Value> carriedValues; ///< states inside the microbatches
  mlir::Value round;                     ///< of the microbatch; null outside of them: 0
  mlir::Block *body = nullptr;           ///< of the step's microbatches, while it is walked
  std::vector<const Variable *> carried; ///< states, in the order of the body's last arguments
  struct Next {
    mlir::Value value;
    Range range;
    mlir::Location location;
  };
  llvm::MapVector<const Variable *, Next> nexts;
  /// A carried state's value after the microbatch.
  mlir::Value nextOf(const Variable *state) const;
  PathClaims paths; ///< of instances
  PathClaims variablePaths;
  std::map<std::string, unsigned> draws; ///< random draws so far, by instance path
  LimitConfigs limitConfigs;             ///< of gathers and labels
  llvm::DenseMap<mlir::Value, const ast::CallableItem *> madeBy; ///< results of the prelude's fns
  /// The first call of a model, for predict.
  const ast::CallableItem *model = nullptr;
  std::shared_ptr<Instance> modelInstance;
  std::vector<CallArgument> modelArguments;
};

/// A variable's value after the step, unless it is skipped.
struct Write {
  const Variable *variable;
  mlir::Value next;
  mlir::Location location;
};

struct Metric {
  std::string name;
  Ratio value;
  Range range;
};

/// What leaves an entry.
struct Output {
  std::string name;
  std::string part; ///< scalar, sum, count, tensor
  mlir::Value value;
  int64_t term = 0;
  double weight = 1;
};

} // namespace weir::elab

#endif
