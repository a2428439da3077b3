//===- ReportDiagnostics.cpp - Diagnostics on the terminal or as JSON -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/ReportDiagnostics.h"
#include "codegen/SystemError.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace weir {
namespace {

const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return "note";
  }
  llvm_unreachable("no other severity");
}

/// The place in the model file that a location leads to: what the prelude does is the line's that
/// called it. May be null.
FileLineColLoc placeOf(Location location) {
  if (auto call = llvm::dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCaller());
  if (auto name = llvm::dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto fused = llvm::dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (FileLineColLoc place = placeOf(part))
        return place;
    return {};
  }
  return llvm::dyn_cast<FileLineColLoc>(location);
}

void printText(mlir::Diagnostic &diagnostic) {
  if (FileLineColLoc place = placeOf(diagnostic.getLocation()))
    llvm::errs() << place.getFilename().getValue() << ":" << place.getLine() << ":"
                 << place.getColumn() << ": ";
  llvm::errs() << severityName(diagnostic.getSeverity()) << ": " << diagnostic.str() << "\n";
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    printText(note);
}

nlohmann::json jsonOf(mlir::Diagnostic &diagnostic) {
  nlohmann::json object = {{"severity", severityName(diagnostic.getSeverity())},
                           {"message", diagnostic.str()},
                           {"notes", nlohmann::json::array()}};
  if (FileLineColLoc place = placeOf(diagnostic.getLocation())) {
    object["file"] = place.getFilename().str();
    object["line"] = place.getLine();
    object["column"] = place.getColumn();
  }
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    object["notes"].push_back(jsonOf(note));
  return object;
}

} // namespace

Exit exitOf(const ElaborateResult &result) {
  if (result.fault)
    return Exit::internal;
  return result.wrong == ElaborateResult::Wrong::options ? Exit::usage : Exit::model;
}

Exit written(Exit exit) {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return exit;
  std::string reason = llvm::outs().error().message();
  llvm::outs().clear_error();
  llvm::errs() << "error: standard output: cannot write all of the results: " << reason << "\n";
  return Exit::storage;
}

ReportDiagnostics::ReportDiagnostics(MLIRContext &context, const CompileOptions &options)
    : options(options),
      handler(&context, [this](mlir::Diagnostic &diagnostic) { report(diagnostic); }) {}

Exit ReportDiagnostics::exit() const {
  if (lacking)
    throw *lacking;
  return located ? Exit::model : Exit::internal;
}

void ReportDiagnostics::report(mlir::Diagnostic &diagnostic) {
  if (std::optional<int> reason = systemErrorOf(diagnostic)) {
    std::string what = diagnostic.str();
    what.resize(what.rfind(": "));
    lacking.emplace(*reason, std::generic_category(), what);
    return;
  }
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error && placeOf(diagnostic.getLocation()))
    located = true;
  if (options.json)
    llvm::outs()
        << jsonOf(diagnostic).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << "\n";
  else
    printText(diagnostic);
}

void ReportDiagnostics::print(const Diagnostics &diagnostics) const {
  if (options.json)
    llvm::outs() << diagnostics.renderJson();
  else
    llvm::errs() << diagnostics.render(options.colour);
}

} // namespace weir
