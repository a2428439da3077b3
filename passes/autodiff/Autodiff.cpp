//===- Autodiff.cpp - Reverse-mode differentiation ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces every weir.gradient by ops before it, in its own block. The ops that lead from the
// sources to the loss may stand in that block or around it: a weir.microbatches body may use values
// from outside. The gradient of each op is in ir/weir/<family>. This file knows no op but
// weir.gradient.
//
// A weir.select passes no gradient to the value that it did not choose: the cotangent there is 0,
// and stays 0. But 0 times an infinite or NaN derivative (sqrt(-1), log(0), exp(100)) would be NaN.
// So a cotangent has a mask, which says where it receives anything, and the cotangent before an
// elementwise op is select(mask, dy f'(x), 0).
//
// Masks propagate through elementwise ops, and through ops that only move elements. They end at
// reductions and products, each of whose results depends on many elements, and at a value that also
// has a use without a mask.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Update.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/requests/PrecisionOverrides.h"
#include "ir/weir/structure/Structure.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_AUTODIFF
#include "passes/Passes.h.inc"

namespace {

bool isFloat(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && llvm::isa<mlir::FloatType>(type.getElementType());
}

unsigned depth(mlir::Operation *op) {
  unsigned result = 0;
  while ((op = op->getParentOp()))
    ++result;
  return result;
}

/// The ops that the loss is computed from, in program order. Every one of them stands in a block
/// around the gradient op, one block per depth, so outer ops come first.
llvm::SmallVector<mlir::Operation *> producersOf(mlir::Value loss) {
  llvm::SetVector<mlir::Operation *> producers;
  if (mlir::Operation *op = loss.getDefiningOp())
    producers.insert(op);
  for (size_t i = 0; i < producers.size(); ++i) {
    mlir::Operation *producer = producers[i];
    // A region may read values from outside it: they are operands too.
    producer->walk([&](mlir::Operation *inner) {
      for (mlir::Value operand : inner->getOperands())
        if (mlir::Operation *op = operand.getDefiningOp())
          if (!producer->isProperAncestor(op))
            producers.insert(op);
    });
  }
  llvm::SmallVector<mlir::Operation *> sorted(producers.begin(), producers.end());
  llvm::DenseMap<mlir::Operation *, unsigned> depths;
  for (mlir::Operation *op : sorted)
    depths[op] = depth(op);
  llvm::sort(sorted, [&](mlir::Operation *a, mlir::Operation *b) {
    return a->getBlock() == b->getBlock() ? a->isBeforeInBlock(b) : depths[a] < depths[b];
  });
  return sorted;
}

/// Whether the op reads one of the values, in a region of its own included.
bool reads(mlir::Operation *op, const llvm::DenseSet<mlir::Value> &values) {
  return op
      ->walk([&](mlir::Operation *inner) {
        bool found = llvm::any_of(inner->getOperands(),
                                  [&](mlir::Value value) { return values.contains(value); });
        return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Puts what is built for an op in the backward phase, at the op's own location under the name
/// "gradient", pins it as the op is, and has it on the op's stage.
struct NameGradients : mlir::OpBuilder::Listener {
  mlir::Operation *differentiated = nullptr;
  llvm::SmallVector<mlir::Operation *> *inserted = nullptr; ///< collects what is built, where set

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    if (inserted)
      inserted->push_back(op);
    setPhase(op, StepPhase::backward);
    if (differentiated) {
      copyPrecisionOverride(differentiated, op);
      if (mlir::Attribute stage = differentiated->getAttr(stageAttrName))
        op->setAttr(stageAttrName, stage);
    }
    auto name = mlir::StringAttr::get(op->getContext(), gradientLocName);
    auto location = llvm::dyn_cast<mlir::NameLoc>(op->getLoc());
    if (!location || location.getName() != name)
      op->setLoc(mlir::NameLoc::get(name, op->getLoc()));
  }
};

/// Builds one gradient op's backward computation before it.
class Backward {
public:
  explicit Backward(GradientOp gradient)
      : gradient(gradient), builder(gradient->getContext(), &names) {
    builder.setInsertionPoint(gradient);
  }

  mlir::LogicalResult build() {
    llvm::SmallVector<mlir::Operation *> producers = producersOf(gradient.getLoss());
    findActive(producers);
    if (active.contains(gradient.getLoss()))
      cotangents[gradient.getLoss()] = constant(gradient.getLoc(), gradient.getLoss().getType(), 1);
    mlir::LogicalResult result = mlir::success();
    // Every op is asked even after an error, so that one compile reports all of them.
    for (mlir::Operation *op : llvm::reverse(producers))
      if (mlir::failed(visit(op)))
        result = mlir::failure();
    if (mlir::succeeded(result))
      replace();
    for (mlir::Operation *op : llvm::reverse(ofMasks))
      if (op->use_empty())
        op->erase();
    return result;
  }

private:
  /// A value is active if it is a source or a float computed from one: only these get cotangents.
  void findActive(llvm::ArrayRef<mlir::Operation *> producers) {
    active.insert(gradient.getSources().begin(), gradient.getSources().end());
    for (mlir::Operation *op : producers)
      if (reads(op, active))
        for (mlir::Value result : op->getResults())
          if (isFloat(result))
            active.insert(result);
  }

  mlir::LogicalResult visit(mlir::Operation *op) {
    llvm::SmallVector<mlir::Value> arriving;
    for (mlir::Value result : op->getResults())
      arriving.push_back(cotangents.lookup(result));
    bool reached = llvm::any_of(arriving, [](mlir::Value value) { return bool(value); });
    if (!reached || !reads(op, active))
      return mlir::success();

    llvm::SmallVector<mlir::Value> leaving;
    mlir::LogicalResult result = mlir::success();
    names.differentiated = op;
    auto differentiable = llvm::dyn_cast<Differentiable>(op);
    if (differentiable)
      result = differentiable.vjp(builder, arriving, leaving);
    else
      result = op->emitOpError("has no gradient, and the loss depends on a parameter through it");
    assert((mlir::failed(result) || leaving.size() == op->getNumOperands()) &&
           "one cotangent per operand, or null");
    llvm::SmallVector<mlir::Value> masksOfOperands;
    if (mlir::succeeded(result))
      masksOfOperands = carryMask(differentiable, leaving);
    names.differentiated = nullptr;
    if (mlir::failed(result)) {
      passThrough(op);
      return result;
    }
    for (auto [operand, cotangent, mask] :
         llvm::zip_equal(op->getOperands(), leaving, masksOfOperands))
      if (cotangent && active.contains(operand))
        add(operand, cotangent, mask);
    return result;
  }

  /// The masks of the operands' cotangents, null for none. Puts the op's own before the cotangents
  /// that its derivative may have made something else than 0.
  llvm::SmallVector<mlir::Value> carryMask(Differentiable op,
                                           llvm::MutableArrayRef<mlir::Value> leaving) {
    mlir::Value mask = op->getNumResults() == 1 ? masks.lookup(op->getResult(0)) : mlir::Value();
    llvm::SmallVector<mlir::Value> carried(leaving.size());
    names.inserted = &ofMasks;
    if (mask && op.movesElements()) {
      llvm::SmallVector<mlir::Value> uses;
      mlir::Value ones =
          CastOp::create(builder, op.getLoc(), cotangentType(op->getResult(0)), mask);
      mlir::LogicalResult moved = op.vjp(builder, ones, uses);
      assert(mlir::succeeded(moved) && "the product of the cotangent was built");
      (void)moved;
      for (auto [own, use] : llvm::zip_equal(carried, uses))
        if (use)
          own = CompareOp::create(builder, op.getLoc(), Predicate::ne, use,
                                  constant(op.getLoc(), use.getType(), 0));
    }
    bool isPointwise = llvm::isa<Pointwise>(op.getOperation());
    bool isLinear =
        isPointwise && llvm::cast<Shardable>(op.getOperation()).linearity() == Linearity::together;
    for (auto [i, own, cotangent] : llvm::enumerate(carried, leaving)) {
      if (!cotangent || !isPointwise || !active.contains(op->getOperand(unsigned(i))))
        continue;
      if (mlir::Value chosen = op.whereChosen(builder, unsigned(i))) {
        own = mask ? AndOp::create(builder, op.getLoc(), mask, chosen).getResult() : chosen;
        continue;
      }
      own = mask;
      if (mask && !isLinear) {
        names.inserted = nullptr;
        cotangent = SelectOp::create(builder, op.getLoc(), cotangent.getType(), mask, cotangent,
                                     constant(op.getLoc(), cotangent.getType(), 0));
        names.inserted = &ofMasks;
      }
    }
    names.inserted = nullptr;
    return carried;
  }

  /// After an error the walk goes on with cotangents of zero, to find the next one.
  void passThrough(mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands())
      if (active.contains(operand) && !cotangents.count(operand))
        cotangents[operand] = constant(op->getLoc(), cotangentType(operand), 0);
  }

  void add(mlir::Value value, mlir::Value cotangent, mlir::Value mask) {
    assert(cotangent.getType() == cotangentType(value));
    mlir::Value &sum = cotangents[value], &all = masks[value];
    if (!sum) {
      sum = cotangent;
      all = mask;
      return;
    }
    sum = AddOp::create(builder, value.getLoc(), sum, cotangent);
    if (!all || !mask || all == mask) {
      all = all == mask ? all : mlir::Value();
      return;
    }
    names.inserted = &ofMasks;
    all = OrOp::create(builder, value.getLoc(), all, mask);
    names.inserted = nullptr;
  }

  void replace() {
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Value source : gradient.getSources()) {
      mlir::Value result = cotangents.lookup(source);
      results.push_back(result ? result : constant(gradient.getLoc(), source.getType(), 0));
    }
    gradient.replaceAllUsesWith(results);
    gradient.erase();
  }

  mlir::Value constant(mlir::Location location, mlir::Type type, double value) {
    mlir::Type element = llvm::cast<mlir::RankedTensorType>(type).getElementType();
    return ConstantOp::create(builder, location, type, builder.getFloatAttr(element, value));
  }

  GradientOp gradient;
  NameGradients names;
  mlir::OpBuilder builder;
  llvm::DenseSet<mlir::Value> active;
  /// Of values and, where they have one, their masks: anything arrives where a mask holds alone.
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents, masks;
  llvm::SmallVector<mlir::Operation *> ofMasks; ///< what masks are made of
};

/// Writes the phase of every op that Backward has not built. What reads a gradient, and what the
/// update alone reads or writes, is of the update; all else is of the forward computation.
void markPhases(mlir::func::FuncOp entry) {
  Phases phases;
  entry.walk([&](mlir::Operation *op) {
    if (ownPhase(op) || op->getNumRegions() > 0 || op->hasTrait<mlir::OpTrait::IsTerminator>())
      return;
    auto write = llvm::dyn_cast<WriteOp>(op);
    const bool isOfUpdate = phases.of(op) != StepPhase::forward || (write && isUpdate(write));
    setPhase(op, isOfUpdate ? StepPhase::update : StepPhase::forward);
  });
  for (mlir::Operation &op : llvm::reverse(entry.front().without_terminator()))
    if (!op.use_empty() && ownPhase(&op) == StepPhase::forward &&
        llvm::all_of(op.getUsers(),
                     [](mlir::Operation *user) { return ownPhase(user) == StepPhase::update; }))
      setPhase(&op, StepPhase::update);
}

struct Autodiff : impl::AutodiffBase<Autodiff> {
  void runOnOperation() override {
    // In program order: a gradient of a gradient sees the first one's ops.
    llvm::SmallVector<GradientOp> gradients;
    getOperation().walk([&](GradientOp gradient) { gradients.push_back(gradient); });
    if (gradients.empty())
      return markAllAnalysesPreserved();
    for (GradientOp gradient : gradients)
      if (mlir::failed(Backward(gradient).build()))
        signalPassFailure();
    markPhases(getOperation());
  }
};

} // namespace
} // namespace weir
