//===- Reporter.cpp - Errors of the model, and places of ops --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Reporter.h"

#include <algorithm>

namespace weir::elab {

using Wrong = ElaborateResult::Wrong;

Diagnostic &Reporter::stop(Range range, std::string message) {
  Diagnostic &report = error(range, std::move(message));
  stopped = true;
  return report;
}

Diagnostic &Reporter::unknown(Range range, std::string message) {
  wrong = std::max(wrong, Wrong::names);
  return error(range, std::move(message));
}

void Reporter::fault(Range range, const std::string &what) {
  faulted = true;
  error(range, what).help("this is a fault of Weir's, not of the model");
}

void Reporter::requireReport(Range range, const std::string &what) {
  if (!diagnostics.hasErrors() && !supposing)
    fault(range, what + ", and nothing says why");
}

Diagnostic &Reporter::error(Range range, std::string message) {
  if (stopped)
    return discarded = Diagnostic();
  // Evaluation is met after a step without errors: what is wrong is wrong in it alone.
  auto report = [&](Range place) -> Diagnostic & {
    Diagnostic &made = diagnostics.error(place, std::move(message));
    if (heldOut.valid())
      made.note(heldOut, "found in the evaluation of held-out data, where `training` is false");
    return made;
  };
  const Frame *frame = calls.get();
  if (!frame || !frame->file->prelude || range.file == modelFile)
    return report(range);
  Range inner = range;
  while (frame->file->prelude && frame->caller) {
    range = frame->callSite;
    message = "in `" + frame->callable->name.text + "`: " + message;
    frame = frame->caller;
  }
  return report(range).note(inner, "in the prelude here");
}

mlir::Location Locations::inFile(Range range) {
  if (!range.valid())
    return mlir::UnknownLoc::get(&context);
  mlir::LocationAttr &location = known[{range.file, range.begin}];
  if (!location) {
    LineColumn place = range.file->locate(range.begin);
    location = mlir::FileLineColLoc::get(&context, range.file->name(), place.line, place.column);
  }
  return mlir::Location(location);
}

mlir::Location Locations::at(Range range) {
  mlir::Location result = inFile(range);
  // Only the prelude's frames: in a user's own block its line says more than the call's.
  for (const Frame *frame = calls.get(); frame && frame->file->prelude && frame->caller;
       frame = frame->caller)
    if (range.file != modelFile)
      result = mlir::CallSiteLoc::get(result, inFile(frame->callSite));
  if (!calls || !calls->instance || calls->instance->path.path.empty())
    return result;
  return mlir::NameLoc::get(mlir::StringAttr::get(&context, calls->instance->path.path), result);
}

} // namespace weir::elab
