//===- Elaborate.h - A model file as a program ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The front end's last stage: a parsed model becomes a module of the weir dialect, checked on the
// way with all sizes known. Locations are file:line:column of the expression; what comes from the
// prelude has a CallSiteLoc whose outermost caller is the line of the model file.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_ELABORATE_H
#define WEIR_FRONTEND_ELABORATE_ELABORATE_H

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace weir {

struct ElaborateOptions {
  /// The step gives every trained parameter's gradient too, as a tensor output `gradient/PATH`: of
  /// the loss, summed over the microbatches, before clipping.
  bool gradients = false;
  WarningOptions warnings = {};
};

struct ElaborateResult {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< verified; null where errors were reported, or
                                            ///< warnings that are errors
  /// Where it is null: what is wrong. Of several, the last in this order.
  enum class Wrong {
    model,  ///< the model, all its names being known
    names,  ///< the model, for an unknown name among others
    options ///< not the model, but an option
  };
  Wrong wrong = Wrong::model;
  bool fault = false; ///< where it is null: Weir failed, whatever else is wrong
};

/// `sets` are the `--set name=value`. Loads the dialects it needs into the context. Diagnostics
/// point into `sources`, which must outlive them.
ElaborateResult elaborate(const ast::Module &model, const std::map<std::string, std::string> &sets,
                          SourceManager &sources, mlir::MLIRContext &context,
                          Diagnostics &diagnostics, const ElaborateOptions &options = {});

/// The same for a file, which is read and parsed first.
ElaborateResult elaborate(const std::string &path, const std::map<std::string, std::string> &sets,
                          SourceManager &sources, mlir::MLIRContext &context,
                          Diagnostics &diagnostics, const ElaborateOptions &options = {});

} // namespace weir

#endif
