//===- SavedPhases.h - Phases of ops while equal ops merge ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SIMPLIFY_SAVEDPHASES_H
#define WEIR_PASSES_SIMPLIFY_SAVEDPHASES_H

#include "ir/weir/Phase.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/PatternMatch.h"

namespace weir {

/// Removes the phases of all ops until restore(), so that equal ops of two phases merge, and the
/// first one's phase stays. As the listener of a rewriter, it gives replacement ops the phase of
/// the replaced one.
class SavedPhases : public mlir::RewriterBase::Listener {
public:
  explicit SavedPhases(mlir::Operation *within) {
    within->walk([&](mlir::Operation *op) {
      for (llvm::StringRef name : {phaseAttrName, resultPhasesAttrName})
        if (mlir::Attribute phase = op->getDiscardableAttr(name)) {
          phases[op] = {mlir::StringAttr::get(op->getContext(), name), phase};
          op->removeDiscardableAttr(name);
        }
    });
  }

  void restore() {
    for (auto [op, phase] : phases)
      op->setDiscardableAttr(phase.first, phase.second);
  }

  using Listener::notifyOperationReplaced;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint from) override {
    if (!from.isSet() && !llvm::isa<ConstantOp>(op)) // it is new, and not moved
      built.insert(op);
  }
  void notifyOperationReplaced(mlir::Operation *op, mlir::ValueRange) override {
    auto phase = phases.find(op);
    if (phase != phases.end()) {
      const auto taken = phase->second; // the map may grow
      for (mlir::Operation *made : built)
        phases.try_emplace(made, taken);
    }
    built.clear();
  }
  void notifyOperationErased(mlir::Operation *op) override {
    phases.erase(op);
    built.erase(op);
  }

private:
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::StringAttr, mlir::Attribute>> phases;
  llvm::DenseSet<mlir::Operation *> built; ///< since the last op was replaced
};

} // namespace weir

#endif
