//===- Verification.cpp - What the checks of one verification share -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verification.h"
#include "ir/weir/Locations.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

std::optional<Verification::Named> Verification::named(const std::optional<Blame> &blame) {
  if (!blame)
    return std::nullopt;
  return Named{blame->op, describe(blame->loc), blame->why};
}

void Verification::report(StringRef pass, const std::string &result,
                          const std::optional<Named> &first, const std::string &detail) {
  VerifyFault fault{pass.str(), result, "", "", ""};
  fault.message = llvm::formatv("after {0}: {1} differs: {2}", pass, result, detail).str();
  if (first) {
    fault.op = first->op;
    fault.place = first->place;
    fault.message += llvm::formatv("\n  first op that differs: {0} at {1}: {2}", fault.op,
                                   fault.place, first->why)
                         .str();
  } else {
    fault.message += "\n  no single op was found that it begins with";
  }
  found.fault = fault;
}

void Verification::tamper(StringRef pass, ModuleOp changed) const {
  if (options.tamper)
    options.tamper(pass, changed);
}

void Verification::progress(StringRef stage, const std::string &text) const {
  if (options.progress)
    options.progress(llvm::formatv("{0,-20} {1}", stage, text).str());
}

void Verification::worked(double seconds) const {
  if (options.worked)
    options.worked(seconds);
}

} // namespace weir
