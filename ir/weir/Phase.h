//===- Phase.h - Forward, backward, update --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Autodiff writes the phase of every op of an entry that has gradients. What later passes build
// inherits it: an op without a phase of its own has the latest phase of the values that it reads.
// A pass that builds backward ops from forward values alone says so (PhaseListener). Constants have
// no phase, since equal ones are merged; kernels have one for each result instead.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PHASE_H
#define WEIR_IR_WEIR_PHASE_H

#include "ir/weir/WeirDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace weir {

/// Of an op: its PhaseAttr. Of a kernel: an array with the PhaseAttr of each result.
inline constexpr llvm::StringLiteral phaseAttrName = "weir.phase",
                                     resultPhasesAttrName = "weir.result_phases";

/// Does nothing for a constant or a variable, which several phases use.
void setPhase(mlir::Operation *op, StepPhase phase);

/// The phase that the op itself says.
std::optional<StepPhase> ownPhase(mlir::Operation *op);

/// Writes the result phases of a kernel whose body's ops still have phases of their own, and
/// removes those: kernels that compute the same are equal in whichever phase they do. Nothing,
/// where neither they nor what the kernel reads says a phase.
void setResultPhases(mlir::Operation *kernel);

/// The phases of values and ops. Answers are remembered: what is built later may be asked about,
/// but no op may be erased while this lives.
class Phases {
public:
  StepPhase of(mlir::Value value);

  /// Of an op with regions and of a kernel: the latest of its results'.
  StepPhase of(mlir::Operation *op);

private:
  /// The phase, where the value or its op says one; else the values that it inherits it from.
  static std::optional<StepPhase> saidOf(mlir::Value value,
                                         llvm::SmallVectorImpl<mlir::Value> &from);

  llvm::DenseMap<mlir::Value, StepPhase> known;
};

/// For few questions, while ops are built and erased.
StepPhase phaseOf(mlir::Operation *op);
inline bool isBackward(mlir::Operation *op) { return phaseOf(op) == StepPhase::backward; }

/// Gives each op that a builder inserts a phase, unless it has one. What is built of forward ops
/// inherits their phase anyway.
class PhaseListener : public mlir::OpBuilder::Listener {
public:
  explicit PhaseListener(StepPhase phase) : phase(phase) {}
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    if (phase != StepPhase::forward && !ownPhase(op))
      setPhase(op, phase);
  }

private:
  StepPhase phase;
};

} // namespace weir

#endif
