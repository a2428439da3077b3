//===- Backends.h - What runs op tests ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of everything that can run a program. A new back end is one more row.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_CHECK_BACKENDS_H
#define WEIR_TOOLS_DEV_WEIR_CHECK_BACKENDS_H

#include "ir/check/Situation.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>

namespace weir::check {

/// A module that is ready to run.
class Executable {
public:
  virtual ~Executable() = default;
  /// Runs the situation's entry on its inputs and variables. Fails with a diagnostic; throws
  /// Failure as the runtime does.
  virtual mlir::FailureOr<Outcome> run(const Situation &situation) = 0;
};

struct Backend {
  llvm::StringRef name;
  llvm::StringRef summary;
  /// Why this machine cannot run it; empty where it can.
  std::string (*unavailable)();
  /// Makes the module ready; the entries are those of extractSituations. Null after a diagnostic.
  std::unique_ptr<Executable> (*prepare)(mlir::OwningOpRef<mlir::ModuleOp> module);
};

llvm::ArrayRef<Backend> backends();

} // namespace weir::check

#endif
