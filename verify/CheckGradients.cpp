//===- CheckGradients.cpp - Gradients against central differences ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Text.h"
#include "verify/Checks.h"
#include "verify/Gradients.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

namespace {

/// Of all entries.
struct Compared {
  std::vector<std::string> unknown; ///< gradients of which differences say nothing
  double loss = 0;                  ///< of the first round
};

/// Compares the gradients that one run of an entry computes with central differences.
class GradientCheck {
public:
  /// `gradients` are the values of each round of the entry's gradients.
  GradientCheck(const VerifyOptions &options, VerifyReport &found, StringRef entry,
                ArrayRef<Tensors> gradients, Compared &compared)
      : options(options), found(found), entry(entry), gradients(gradients), compared(compared) {}

  /// Compares the next round, and gives its values to the interpreter.
  FailureOr<Tensors> compare(GradientOp op, Interpreter &running);

  std::string wrong; ///< the first gradient that is wrong; "" if none is
  double off = 0;    ///< by how much

private:
  const VerifyOptions &options;
  VerifyReport &found;
  StringRef entry;
  ArrayRef<Tensors> gradients;
  Compared &compared;
  size_t round = 0;
};

FailureOr<Tensors> GradientCheck::compare(GradientOp op, Interpreter &running) {
  const Tensors &values = gradients[round++];
  Differences differences(op, values, running);
  unsigned count = values.size();
  if (!options.full && failed(differences.check(0, count, directionsOfAll)))
    return failure();
  for (unsigned source = 0; options.full && source < count; ++source)
    if (failed(differences.check(source, 1, directionsOfEach)))
      return failure();
  found.largestSlope = std::max(found.largestSlope, differences.off);
  auto nameOf = [&](unsigned source) {
    auto read = op.getSources()[source].getDefiningOp<ReadOp>();
    return read ? "`" + read.getVariable().str() + "`" : "a value";
  };
  if (wrong.empty() && !differences.wrong.empty()) {
    wrong = "the gradient of " + nameOf(differences.wrong.front().first) + " in @" + entry.str();
    off = differences.wrong.front().second;
  }
  if (round == 1) {
    found.gradients += count;
    compared.loss = running.valueOf(op.getLoss()).values[0];
    for (unsigned source : differences.unknown)
      compared.unknown.push_back(nameOf(source));
  }
  return values;
}

/// Tells how many gradients agree, or that none can be compared.
void conclude(Verification &verification, const Compared &compared) {
  const std::vector<std::string> &unknown = compared.unknown;
  VerifyReport &found = verification.found;
  std::string alone = unknown.empty() ? "" : ": " + joinFew(unknown, ", ", 4);
  if (unknown.size() == found.gradients) {
    found.unverifiable = llvm::formatv("none of the {0} gradients can be compared with central "
                                       "differences{1}: the loss is {2:e1}, and its rounding hides "
                                       "what they change of it, or it bends within their steps",
                                       found.gradients, alone, compared.loss)
                             .str();
    return;
  }
  std::string text =
      llvm::formatv("{0} agree with central differences (to {1:e1}), {2}",
                    found.gradients - unknown.size(), found.largestSlope,
                    verification.options.full ? "each along 2 directions"
                                              : "along 4 directions of all of them at once")
          .str();
  if (!unknown.empty())
    text += llvm::formatv("; {0} cannot be compared{1}", unknown.size(), alone).str();
  verification.progress("gradients", text);
}

} // namespace

LogicalResult checkGradients(Verification &verification, const Samples &samples) {
  ModuleOp module = verification.module;
  VerifyReport &found = verification.found;
  auto tampering = [&](ModuleOp copy) { verification.tamper("autodiff", copy); };
  const RandomInputs &feed = samples.middle().feed;
  Compared compared;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (function.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted() == false)
      continue;
    FailureOr<std::vector<Tensors>> gradients = gradientsOf(samples.twin(), entry, feed, false);
    if (failed(gradients))
      return failure();
    GradientCheck check(verification.options, found, entry, *gradients, compared);
    Interpreter interpreter;
    interpreter.rounds = false;
    interpreter.variables = feed.variables;
    interpreter.gradients = [&](GradientOp op, Interpreter &running) {
      return check.compare(op, running);
    };
    if (failed(interpreter.run(function, feed.inputs.at(entry.str()))))
      return failure();
    if (check.wrong.empty())
      continue;
    verification.report(
        "autodiff", check.wrong, Verification::named(blameGradient(module, entry, feed, tampering)),
        llvm::formatv("central differences of the loss are off by {0:e3} of its norm", check.off)
            .str());
    return success();
  }
  verification.worked(verification.cost.gradients);
  found.unknownGradients = compared.unknown.size();
  if (found.gradients)
    conclude(verification, compared);
  return success();
}

} // namespace weir
