//===- PassTarget.h - The target of a pass --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PASSTARGET_H
#define WEIR_PASSES_PASSTARGET_H

#include "codegen/targets/Targets.h"
#include "mlir/IR/Diagnostics.h"

namespace weir {

/// The compile's own target, or the one that the pass's option names.
class PassTarget {
public:
  PassTarget() = default;
  explicit PassTarget(std::shared_ptr<Target> given) : target(std::move(given)) {}

  /// To be called by Pass::initialize. An option that names no target is an error.
  mlir::LogicalResult make(mlir::MLIRContext *context, llvm::StringRef option) {
    if (!target)
      target = makeTarget(option);
    if (!target)
      return mlir::emitError(mlir::UnknownLoc::get(context))
             << "target " << option << ": expected " << targetOptions();
    return mlir::success();
  }

  Target &operator*() const { return *target; }
  Target *operator->() const { return target.get(); }

private:
  std::shared_ptr<Target> target;
};

} // namespace weir

#endif
