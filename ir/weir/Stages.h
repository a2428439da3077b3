//===- Stages.h - On which stage a value is --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. Stages are numbered in the model's order; of p ranks along pp the rank r has those
// that are r modulo p.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_STAGES_H
#define WEIR_IR_WEIR_STAGES_H

#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/transfer/Transfer.h"

namespace weir::stages {

/// Of what all stages have.
constexpr int64_t everywhere = -1;

/// What weir.stage says of an op or a variable; everywhere where it says nothing.
inline int64_t saidStage(mlir::Operation *op) {
  auto stage = op ? op->getAttrOfType<mlir::IntegerAttr>(stageAttrName) : nullptr;
  return stage ? stage.getInt() : everywhere;
}

inline void sayStage(mlir::Operation *op, int64_t stage) {
  if (stage == everywhere)
    op->removeAttr(stageAttrName);
  else
    op->setAttr(stageAttrName, mlir::Builder(op->getContext()).getI64IntegerAttr(stage));
}

/// Behind weir-cross-stages: where a value is. What was made of one without saying so, as what
/// brings it to another layout, is where that is.
class StageOf {
public:
  int64_t operator()(mlir::Value value) {
    auto [found, isNew] = known.try_emplace(value, everywhere);
    if (!isNew)
      return found->second;
    int64_t stage = find(value);
    return known[value] = stage;
  }

private:
  int64_t find(mlir::Value value) {
    mlir::Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = llvm::cast<mlir::BlockArgument>(value);
      auto loop = llvm::dyn_cast<MicrobatchesOp>(argument.getOwner()->getParentOp());
      return loop && argument.getArgNumber() > 0
                 ? (*this)(loop->getOperand(argument.getArgNumber() - 1))
                 : everywhere;
    }
    if (auto transfer = llvm::dyn_cast<StageTransferOp>(op))
      return static_cast<int64_t>(transfer.getTo());
    if (auto loop = llvm::dyn_cast<MicrobatchesOp>(op)) {
      unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
      return number >= loop.numSums()
                 ? (*this)(loop.getCarried()[number - loop.numSums()])
                 : (*this)(loop.getBody().front().getTerminator()->getOperand(number));
    }
    if (auto read = llvm::dyn_cast<ReadOp>(op))
      return saidStage(mlir::SymbolTable::lookupNearestSymbolFrom(op, read.getVariableAttr()));
    if (int64_t said = saidStage(op); said != everywhere)
      return said;
    for (mlir::Value operand : op->getOperands())
      if (int64_t stage = (*this)(operand); stage != everywhere)
        return stage;
    return everywhere;
  }

  llvm::DenseMap<mlir::Value, int64_t> known;
};

} // namespace weir::stages

#endif
