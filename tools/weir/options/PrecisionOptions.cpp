//===- PrecisionOptions.cpp - --precision, --param-dtype and --loss-scale ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/PrecisionOptions.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Update.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "support/Text.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weir {

std::string wrongPrecision(const Strategy &strategy, const Target &target) {
  return *strategy.precision == Precision::tf32 && !target.roundsFactors()
             ? "--precision tf32: " + target.requirement().str() +
                   " cannot multiply tf32; remove the option, or compile for a GPU (--target cuda)"
             : "";
}

std::set<Precision> precisionsOf(ModuleOp program, Precision precision) {
  std::set<Precision> all;
  for (auto entry : program.getOps<func::FuncOp>())
    for (Operation *op : opsBesideUpdate(entry))
      if (takesPrecision(op))
        all.insert(precisionOverrideOf(op).value_or(precision));
  return all;
}

std::optional<LossScale> lossScaleFor(const Strategy &strategy, ModuleOp program,
                                      std::string &problem) {
  const Precision precision = *strategy.precision;
  // The others reach as far down as f32.
  const bool needed = precisionsOf(program, precision).count(Precision::f16) != 0;
  const LossScale usual = needed ? *lossScaleNamed("dynamic") : LossScale{};
  const LossScale scale = strategy.lossScale.value_or(usual);
  if (needed || !scale.any())
    return scale;
  problem =
      concat("--loss-scale ", nameOf(scale),
             ": loss scaling prevents underflow of f16 gradients, but nothing here is rounded "
             "to f16; remove the option",
             precision == Precision::f16 ? "" : ", or add --precision f16");
  return std::nullopt;
}

void noteWidened(MLIRContext *context, const Target &target,
                 const std::set<Precision> &precisions) {
  std::set<Element> widened;
  for (Precision precision : precisions) {
    Element stored = rowOf(precision).stored;
    Type low = typeOf(context, stored);
    if (isLow(stored) && target.factorType(low) != low && widened.insert(stored).second)
      llvm::errs() << "note: " << target.requirement() << " cannot multiply " << nameOf(stored)
                   << ": " << nameOf(stored)
                   << " operands are multiplied in f32, which is slower than "
                      "--precision f32\n";
  }
}

} // namespace weir
