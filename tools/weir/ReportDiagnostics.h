//===- ReportDiagnostics.h - Diagnostics on the terminal or as JSON -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frontend collects its diagnostics; passes emit theirs at IR locations, which point into the
// same files. Both come out in one form: text on standard error, or JSON lines on standard output.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_REPORTDIAGNOSTICS_H
#define WEIR_TOOLS_WEIR_REPORTDIAGNOSTICS_H

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/weir/commands/Compile.h"
#include <optional>
#include <system_error>

namespace weir {

/// After an elaboration without a module.
Exit exitOf(const ElaborateResult &result);

/// `exit`, where standard output took all that went to llvm::outs(); else says so. (LLVM would
/// abort at the process's end.)
Exit written(Exit exit);

class ReportDiagnostics {
public:
  /// Handles the context's diagnostics as long as it lives.
  ReportDiagnostics(mlir::MLIRContext &context, const CompileOptions &options);

  void print(const Diagnostics &diagnostics) const;

  /// After a failure: model where a place in a model file was named, internal where the compiler
  /// failed on its own. Throws std::system_error for what the machine lacked.
  Exit exit() const;

private:
  void report(mlir::Diagnostic &diagnostic);

  const CompileOptions &options;
  mlir::ScopedDiagnosticHandler handler;
  bool located = false;
  std::optional<std::system_error> lacking; ///< not printed yet
};

} // namespace weir

#endif
