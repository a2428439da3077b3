//===- Phase.cpp - Forward, backward, update ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Phase.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace weir {

void PhaseAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyStepPhase(getValue()) << ">";
}

Attribute PhaseAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc at = parser.getCurrentLocation();
  StringRef name;
  std::optional<StepPhase> phase;
  if (succeeded(parser.parseOptionalKeyword(&name)))
    phase = symbolizeStepPhase(name);
  if (!phase) {
    InFlightDiagnostic error = parser.emitError(at, "phase: expected forward, backward or update");
    if (!name.empty())
      error << ", but found " << name;
    return {};
  }
  return parser.parseGreater() ? Attribute() : get(parser.getContext(), *phase);
}

void setPhase(Operation *op, StepPhase phase) {
  if (!op->hasTrait<OpTrait::ConstantLike>() && !isa<VariableOp>(op))
    op->setDiscardableAttr(phaseAttrName, PhaseAttr::get(op->getContext(), phase));
}

std::optional<StepPhase> ownPhase(Operation *op) {
  auto phase = dyn_cast_or_null<PhaseAttr>(op->getDiscardableAttr(phaseAttrName));
  return phase ? std::optional(phase.getValue()) : std::nullopt;
}

std::optional<StepPhase> Phases::saidOf(Value value, SmallVectorImpl<Value> &from) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The first argument of a body is the number of the microbatch.
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa_and_nonnull<MicrobatchesOp, KernelOp>(parent))
      if (unsigned number = argument.getArgNumber() + isa<KernelOp>(parent))
        from.push_back(parent->getOperand(number - 1));
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto phases = dyn_cast_or_null<ArrayAttr>(op->getDiscardableAttr(resultPhasesAttrName)))
    return cast<PhaseAttr>(phases[number]).getValue();
  if (std::optional<StepPhase> own = ownPhase(op))
    return own;
  if (isa<MicrobatchesOp, KernelOp>(op))
    from.push_back(op->getRegion(0).front().getTerminator()->getOperand(number));
  else
    llvm::append_range(from, op->getOperands());
  return std::nullopt;
}

StepPhase Phases::of(Value value) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value last = open.back();
    if (known.contains(last)) {
      open.pop_back();
      continue;
    }
    SmallVector<Value> from;
    std::optional<StepPhase> said = saidOf(last, from);
    if (!said && llvm::any_of(from, [&](Value one) { return !known.contains(one); })) {
      llvm::copy_if(from, std::back_inserter(open),
                    [&](Value one) { return !known.contains(one); });
      continue;
    }
    StepPhase phase = said.value_or(StepPhase::forward);
    for (Value one : from)
      phase = std::max(phase, known.at(one));
    known[last] = phase;
    open.pop_back();
  }
  return known.at(value);
}

StepPhase Phases::of(Operation *op) {
  if (std::optional<StepPhase> own = ownPhase(op))
    return *own;
  ValueRange values = op->getNumResults() > 0 ? ValueRange(op->getResults()) : op->getOperands();
  StepPhase phase = StepPhase::forward;
  for (Value value : values)
    phase = std::max(phase, of(value));
  return phase;
}

StepPhase phaseOf(Operation *op) { return Phases().of(op); }

void setResultPhases(Operation *kernel) {
  Block &body = kernel->getRegion(0).front();
  Phases phases;
  auto hasPhases = [&] {
    return llvm::any_of(body, [](Operation &op) { return ownPhase(&op).has_value(); }) ||
           phases.of(kernel) != StepPhase::forward;
  };
  if (!hasPhases())
    return;
  SmallVector<Attribute> ofResults;
  for (Value value : body.getTerminator()->getOperands())
    ofResults.push_back(PhaseAttr::get(kernel->getContext(), phases.of(value)));
  kernel->setAttr(resultPhasesAttrName, ArrayAttr::get(kernel->getContext(), ofResults));
  for (Operation &op : body)
    op.removeDiscardableAttr(phaseAttrName);
}

} // namespace weir
