//===- Gradients.cpp - Gradients against differences ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "verify/Blame.h"
#include "verify/Compare.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
namespace {

constexpr llvm::StringLiteral marker = "verify.gradient";

/// Passes each gradient through a marked identity.
void mark(mlir::ModuleOp module) {
  mlir::OpBuilder builder(module.getContext());
  module.walk([&](GradientOp op) {
    builder.setInsertionPointAfter(op);
    for (auto [i, gradient] : llvm::enumerate(op.getGradients())) {
      auto marked = StopGradientOp::create(builder, op.getLoc(), gradient.getType(), gradient,
                                           mlir::TypeAttr());
      marked->setAttr(marker, builder.getI64IntegerAttr(i));
      gradient.replaceAllUsesExcept(marked, marked);
    }
  });
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp>
differentiated(mlir::ModuleOp module, llvm::function_ref<void(mlir::ModuleOp)> afterwards) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mark(*copy);
  mlir::PassManager manager(module.getContext());
  manager.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  if (mlir::failed(manager.run(*copy)))
    return {};
  if (afterwards)
    afterwards(*copy);
  return copy;
}

mlir::FailureOr<Gradients> gradientsOf(mlir::ModuleOp differentiated, llvm::StringRef entry,
                                       const Feed &feed) {
  Gradients gradients;
  Interpreter interpreter;
  interpreter.variables = feed.variables;
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    auto number = op->getAttrOfType<mlir::IntegerAttr>(marker);
    if (!number)
      return;
    if (number.getInt() == 0)
      gradients.emplace_back();
    gradients.back().push_back(results[0]);
  };
  auto function = differentiated.lookupSymbol<mlir::func::FuncOp>(entry);
  if (mlir::failed(interpreter.run(function, feed.inputs.at(entry.str()))))
    return mlir::failure();
  return gradients;
}

mlir::FailureOr<bool> agreesWithDifferences(GradientOp op, unsigned source, const Tensor &gradient,
                                            double largest, unsigned direction,
                                            Interpreter &interpreter, double &relative) {
  Tensor along(gradient.shape);
  uint32_t bits = 2654435761u * (direction + 1) + source;
  double product = 0;
  for (size_t i = 0; i < along.values.size(); ++i) {
    bits = bits * 1664525u + 1013904223u;
    along.values[i] = bits >> 31 ? 1 : -1;
    product += along.values[i] * gradient.values[i];
  }
  mlir::FailureOr<double> slope = directionalDerivative(op, source, along, interpreter);
  if (mlir::failed(slope))
    return mlir::failure();
  double scale = std::max({norm(gradient), largest * 1e-3, 1e-30});
  relative = std::abs(product - *slope) / scale;
  return relative <= gradientTolerance; // false for NaN
}

//===----------------------------------------------------------------------===//
// The op whose gradient is wrong
//===----------------------------------------------------------------------===//

namespace {

/// A gradient op of which every value on the way from the sources to the loss is a source, each use
/// of a value that has several apart from the others.
class Opened {
public:
  explicit Opened(GradientOp op) : gradient(op) {
    llvm::SetVector<mlir::Operation *> path;
    for (mlir::Value source : op.getSources())
      for (mlir::Operation *on : gradientPath(op, source))
        if (on->getBlock() == op->getBlock())
          path.insert(on);
    llvm::SmallVector<mlir::Operation *> sorted = path.takeVector();
    llvm::sort(sorted, [](auto *a, auto *b) { return a->isBeforeInBlock(b); });

    llvm::SetVector<mlir::Value> values(op.getSources().begin(), op.getSources().end());
    for (mlir::Operation *on : sorted)
      for (mlir::Value result : on->getResults())
        if (llvm::cast<mlir::RankedTensorType>(result.getType()).getElementType().isF32())
          values.insert(result);
    for (mlir::Value value : values) {
      llvm::SmallVector<mlir::OpOperand *> uses;
      for (mlir::Operation *on : sorted)
        for (mlir::OpOperand &operand : on->getOpOperands())
          if (operand.get() == value)
            uses.push_back(&operand);
      if (uses.empty() && value != op.getLoss())
        continue;
      if (uses.size() == 1) {
        places.push_back({value, uses[0]->getOwner(), false});
        continue;
      }
      places.push_back({value, nullptr, true});
      for (mlir::OpOperand *use : uses) {
        mlir::OpBuilder builder(use->getOwner());
        mlir::Value apart =
            CastOp::create(builder, use->getOwner()->getLoc(), value.getType(), value);
        use->set(apart);
        places.push_back({apart, use->getOwner(), false});
      }
    }
    // From the loss back, so that all that a gradient is made of has been looked at before it.
    llvm::stable_sort(places, [&](const Place &a, const Place &b) { return isAfter(a, b); });
    llvm::SmallVector<mlir::Value> sources(op.getSources());
    for (Place &place : places) {
      place.source = sources.size();
      sources.push_back(place.value);
    }
    mlir::OpBuilder builder(op);
    auto wide = GradientOp::create(builder, op.getLoc(), op.getLoss(), sources);
    op->replaceAllUsesWith(wide.getGradients().take_front(op.getNumResults()));
    op.erase();
    gradient = wide;
  }

  struct Place {
    mlir::Value value;
    mlir::Operation *user; ///< whose vjp the gradient of the value is; null for a sum over uses
    bool sum;
    unsigned source = 0;
  };

  GradientOp gradient;
  llvm::SmallVector<Place> places;

private:
  bool isAfter(const Place &a, const Place &b) const {
    mlir::Operation *first = a.value.getDefiningOp(), *second = b.value.getDefiningOp();
    auto here = [&](mlir::Operation *op) { return op && op->getBlock() == gradient->getBlock(); };
    if (here(first) != here(second))
      return here(first);
    return here(first) && second->isBeforeInBlock(first);
  }
};

std::optional<Blame> blameOf(const Opened::Place &place) {
  if (!place.sum)
    return Blame{place.user->getName().getStringRef().str(), place.user->getLoc(),
                 "its vector-Jacobian product is not what differences of the op say"};
  mlir::Operation *maker = place.value.getDefiningOp();
  return Blame{maker ? maker->getName().getStringRef().str() : "an argument",
               place.value.getLoc(),
               "the gradients of its uses are right, but their sum is not"};
}

} // namespace

std::optional<Blame> blameGradient(mlir::ModuleOp module, llvm::StringRef entry, const Feed &feed,
                                   llvm::function_ref<void(mlir::ModuleOp)> afterwards) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  auto function = copy->lookupSymbol<mlir::func::FuncOp>(entry);
  llvm::SmallVector<GradientOp> ops;
  function.walk([&](GradientOp op) { ops.push_back(op); });
  std::vector<Opened> opened;
  for (GradientOp op : ops)
    opened.emplace_back(op);
  mlir::OwningOpRef<mlir::ModuleOp> twin = differentiated(*copy, afterwards);
  if (!twin)
    return std::nullopt;
  mlir::FailureOr<Gradients> gradients = gradientsOf(*twin, entry, feed);
  if (mlir::failed(gradients))
    return std::nullopt;

  std::optional<Blame> found;
  size_t round = 0;
  Interpreter interpreter;
  interpreter.variables = feed.variables;
  interpreter.gradients = [&](GradientOp op, Interpreter &running) -> mlir::FailureOr<Tensors> {
    const Tensors &values = (*gradients)[round++];
    double largest = 0;
    for (const Tensor &value : values)
      largest = std::max(largest, norm(value));
    for (const Opened &one : opened)
      for (const Opened::Place &place : one.places) {
        if (found || one.gradient != op)
          continue;
        double relative;
        auto agrees = agreesWithDifferences(op, place.source, values[place.source], largest, 0,
                                            running, relative);
        if (mlir::failed(agrees))
          return mlir::failure();
        if (!*agrees)
          found = blameOf(place);
      }
    return values;
  };
  (void)interpreter.run(function, feed.inputs.at(entry.str()));
  return found;
}

} // namespace weir
