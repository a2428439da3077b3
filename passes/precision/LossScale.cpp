//===- LossScale.cpp - Which loss scale a precision has -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/LossScale.h"
#include "ir/weir/Pins.h"

namespace weir {

/// The others reach as far down as f32.
static bool roundsToF16(Precision precision, mlir::ModuleOp program) {
  auto pinned = program.walk([](mlir::Operation *op) {
    return pinOf(op) == Precision::f16 ? mlir::WalkResult::interrupt()
                                       : mlir::WalkResult::advance();
  });
  return precision == Precision::f16 || pinned.wasInterrupted();
}

std::optional<LossScale> lossScaleFor(std::string_view name, Precision precision,
                                      mlir::ModuleOp program, std::string &problem) {
  bool needed = roundsToF16(precision, program);
  if (name.empty())
    name = needed ? "dynamic" : "none";
  std::string given = "--loss-scale " + std::string(name);
  std::optional<LossScale> scale = lossScaleNamed(name);
  if (!scale) {
    problem = given + ": expected " + lossScaleOptions();
  } else if (scale->any() && !needed) {
    std::string other = nameOf(precision);
    problem = given +
              ": gradients are scaled so that f16 holds the small ones, but this is "
              "--precision " +
              other +
              ", which needs none; leave the option out, or give "
              "--precision f16";
    scale.reset();
  }
  return scale;
}

} // namespace weir
