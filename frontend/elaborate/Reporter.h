//===- Reporter.h - Errors of the model, and places of ops ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the elaborator report through a Reporter. It says errors inside the prelude at the
// user's call that led there, and keeps what the elaborator's result needs to know about errors.
// Locations turns the same places into locations of ops.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_REPORTER_H
#define WEIR_FRONTEND_ELABORATE_REPORTER_H

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/CallStack.h"
#include "frontend/elaborate/Elaborate.h"

namespace weir::elab {

class Reporter {
public:
  /// `modelFile` is the user's; the prelude's are known by the frames of `calls`.
  Reporter(Diagnostics &diagnostics, const CallStack &calls, const SourceFile *modelFile)
      : diagnostics(diagnostics), calls(calls), modelFile(modelFile) {}

  /// At the user's own code: what goes wrong inside the prelude is reported at the call that led
  /// there, with a note. Nothing after a stop.
  Diagnostic &error(Range range, std::string message);
  /// For what leads to no end: nothing is walked or reported after it.
  Diagnostic &stop(Range range, std::string message);
  /// For a name that means nothing: what seems unused may be what was meant.
  Diagnostic &unknown(Range range, std::string message);
  /// For what no model can cause: reports it as a fault of Weir's.
  void fault(Range range, const std::string &what);
  /// Poison, and whatever else is missing, stands for what was reported: a fault where nothing was.
  void requireReport(Range range, const std::string &what);
  /// Whether errors were reported, or warnings would be about arguments that nobody gave.
  bool isSilent() const { return supposing || diagnostics.hasErrors(); }

  Diagnostics &diagnostics;
  bool stopped = false;
  bool faulted = false;   ///< a fault of Weir's was reported
  bool supposing = false; ///< arguments stand for any: what is unknown needs no report
  ElaborateResult::Wrong wrong = ElaborateResult::Wrong::model;
  /// The keyword of the recipe while held-out evaluation is walked, which every error then notes.
  Range heldOut;

private:
  const CallStack &calls;
  const SourceFile *modelFile;
  Diagnostic discarded; ///< what is said after a stop
};

/// Locations of ops: file:line:column of the expression, with the calls of the prelude around it,
/// named by the path of the instance.
class Locations {
public:
  Locations(mlir::MLIRContext &context, const CallStack &calls, const SourceFile *modelFile)
      : context(context), calls(calls), modelFile(modelFile) {}

  mlir::Location at(Range range);
  /// Without the calls and the instance.
  mlir::Location inFile(Range range);

private:
  mlir::MLIRContext &context;
  const CallStack &calls;
  const SourceFile *modelFile;
  /// Of places in files, which every instance of a block names again.
  llvm::DenseMap<std::pair<const SourceFile *, uint32_t>, mlir::LocationAttr> known;
};

} // namespace weir::elab

#endif
