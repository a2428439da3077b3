//===- ReadArtifactPlan.cpp - An artifact as a plan module ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/ReadArtifactPlan.h"
#include "support/Error.h"

using namespace mlir;

namespace weir {

OwningOpRef<ModuleOp> readArtifactPlan(const std::vector<std::byte> &artifact,
                                       MLIRContext &context) {
  std::string reason;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (reason.empty()) {
      llvm::raw_string_ostream stream(reason);
      if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        stream << place.getFilename().getValue() << ":" << place.getLine() << ": ";
      stream << diagnostic;
    }
    return success();
  });
  OwningOpRef<ModuleOp> plan = readPlan(artifact, context);
  if (!plan)
    throw Failure(Exit::model, "the plan in the artifact cannot be read: " + reason);
  return plan;
}

} // namespace weir
