//===- SystemError.cpp - What the machine that compiles lacks -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/SystemError.h"

#include <cstring>

using namespace mlir;

namespace weir {

LogicalResult emitSystemError(Location loc, int reason, StringRef what) {
  InFlightDiagnostic error = emitError(loc) << what << ": " << std::strerror(reason);
  error.getUnderlyingDiagnostic()->getMetadata().push_back(DiagnosticArgument(int64_t(reason)));
  return error;
}

std::optional<int> systemErrorOf(Diagnostic &diagnostic) {
  for (const DiagnosticArgument &one : diagnostic.getMetadata())
    if (one.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return int(one.getAsInteger());
  return std::nullopt;
}

} // namespace weir
