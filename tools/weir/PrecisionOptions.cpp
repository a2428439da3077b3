//===- PrecisionOptions.cpp - --precision, --master and --loss-scale ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/PrecisionOptions.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Pins.h"
#include "ir/weir/Update.h"
#include "runtime/base/Masters.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {

std::optional<Precisions> precisionsNamed(const CompileOptions &options, const Target &target,
                                          std::string &problem) {
  std::optional<Precision> precision = precisionNamed(options.precision);
  std::optional<Element> master = masterNamed(options.master);
  if (precision == Precision::tf32 && !target.roundsFactors()) {
    problem =
        "--precision tf32: " + target.requirement().str() +
        " multiplies f32 as it is; leave the option out, or compile for a GPU (--target cuda)";
    return std::nullopt;
  }
  if (precision && master)
    return Precisions{*precision, *master};
  problem = precision ? "--master " + options.master + ": expected " + masterOptions()
                      : "--precision " + options.precision + ": expected " + precisionOptions();
  return std::nullopt;
}

std::set<Precision> precisionsOf(ModuleOp program, Precision precision) {
  std::set<Precision> all;
  for (auto entry : program.getOps<func::FuncOp>())
    for (Operation *op : opsBesideUpdate(entry))
      if (takesPrecision(op))
        all.insert(pinOf(op).value_or(precision));
  return all;
}

std::optional<LossScale> lossScaleFor(std::string_view name, ModuleOp program, Precision precision,
                                      std::string &problem) {
  std::set<Precision> precisions = precisionsOf(program, precision);
  bool needed = precisions.count(Precision::f16) != 0; // the others reach as far down as f32
  if (name.empty())
    name = needed ? "dynamic" : "none";
  std::string given = "--loss-scale " + std::string(name);
  std::optional<LossScale> scale = lossScaleNamed(name);
  if (!scale) {
    problem = given + ": expected " + lossScaleOptions();
  } else if (scale->any() && !needed) {
    problem = given + ": gradients are scaled so that f16 holds the small ones, but nothing here "
                      "is rounded to f16; leave the option out";
    if (precision != Precision::f16)
      problem += ", or give --precision f16";
    scale.reset();
  }
  return scale;
}

void noteWidened(MLIRContext *context, const Target &target,
                 const std::set<Precision> &precisions) {
  std::set<Element> widened;
  for (Precision precision : precisions) {
    Element stored = rowOf(precision).stored;
    Type low = typeOf(context, stored);
    if (isLow(stored) && target.factorType(low) != low && widened.insert(stored).second)
      llvm::errs() << "note: " << target.requirement() << " multiplies no " << nameOf(stored)
                   << ": what is rounded to it is multiplied in f32, which is slower than f32 "
                      "alone\n";
  }
}

} // namespace weir
