//===- Instances.h - Instances of blocks, and their paths -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_INSTANCES_H
#define WEIR_FRONTEND_ELABORATE_INSTANCES_H

#include "frontend/elaborate/Entry.h"
#include "frontend/elaborate/Evaluator.h"

namespace weir::elab {

/// Whether calls of a callable are instances, which own parameters and states; false for null.
bool ownsVariables(const ast::CallableItem *callable);

/// Gives instances and variables their paths in the program, and reports those that want a path
/// that another has.
class Instances {
public:
  explicit Instances(Evaluator &evaluator)
      : evaluator(evaluator), reporter(evaluator.reporter), current(evaluator.calls) {}

  /// A new instance, or in a later call of the instance around it the one made there before. Null
  /// after an error. `entry` is null where no entry is elaborated: then nothing may use a block.
  std::shared_ptr<Instance> instantiate(const ast::CallableItem &callable,
                                        const std::optional<ast::Path> &path, Range range,
                                        Entry *entry);
  /// Whether a variable of the innermost call may have a path: no other instance has one there.
  /// Reported if not.
  bool claimPath(const ModelPath &path, const ast::Identifier &name, Entry &entry);

private:
  /// The full path of what stands after `as`, or `fallback`; nothing, reported, where it is not
  /// known now.
  std::optional<ModelPath> resolvePath(const std::optional<ast::Path> &path,
                                       const std::string &fallback);
  /// An instance or variable called `name` wants a path that what stands at `other` has.
  void reportTaken(const std::string &path, Range range, const std::string &name, Range other);

  Evaluator &evaluator;
  Reporter &reporter;
  CallStack &current;
  uint64_t misplaced = 0; ///< instances whose path was another's
};

} // namespace weir::elab

#endif
