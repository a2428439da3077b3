//===- InitialValues.h - Emits the initial values of variables ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits `init`, the entry that computes every variable's initial value, and `states`, the entry
// that computes again, once weights are loaded, the states whose initial values depend on
// parameters.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_INITIALVALUES_H
#define WEIR_FRONTEND_ELABORATE_INITIALVALUES_H

#include "frontend/elaborate/Entry.h"
#include "frontend/elaborate/TensorBuilder.h"

#include <functional>

namespace weir::elab {

/// The counter of a random draw: 64 bits of what it is for.
int64_t randomKey(const std::string &purpose);

class InitialValues {
public:
  InitialValues(mlir::OpBuilder &builder, TensorBuilder &tensors, Locations &locations,
                CallStack &calls, Reporter &reporter)
      : opBuilder(builder), tensors(tensors), locations(locations), calls(calls),
        reporter(reporter) {}

  using MakeTensor = std::function<std::optional<Tensor>()>;

  /// Begins the functions of a module; leaves the insertion point in `init`.
  void begin(mlir::ModuleOp module, mlir::Location place);
  void end();
  /// Adds a variable whose initial value `initial` emits, or reports that there is none. Null after
  /// an error. `range` is the declaration in `entry`.
  Variable *declare(const ast::Identifier &name, Role role, const ModelPath &path,
                    const MakeTensor &initial, Range range, Variables &variables,
                    const Entry &entry);
  /// What an initializer, a number or a tensor is for a variable of these dimensions. Nothing,
  /// reported, where it fits none.
  std::optional<Tensor> tensorFor(const Value &init, const Dims &dims, const ModelPath &path,
                                  Range range);

private:
  void restate(const Variable &state, mlir::Operation *first, mlir::Value value,
               const Variables &variables, const Entry &entry);

  mlir::OpBuilder &opBuilder;
  TensorBuilder &tensors;
  Locations &locations;
  CallStack &calls;
  Reporter &reporter;
  mlir::func::FuncOp init;
  mlir::Value seed, zero;      ///< in init
  mlir::func::FuncOp restated; ///< `states`; null where no state begins as a parameter
  llvm::StringMap<mlir::Value> restatedValues; ///< by symbol
};

} // namespace weir::elab

#endif
