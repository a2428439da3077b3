//===- Gradients.cpp - Gradients against central differences --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Gradients.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/recipe/Recipe.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "verify/Blame.h"
#include "verify/Compare.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

namespace weir {
namespace {

constexpr llvm::StringLiteral marker = "verify.gradient";

/// What rounding of the loss may make of a slope, of the gradient's scale.
constexpr double mostNoise = 1;
/// How many times further than differences are from each other a wrong gradient is from them. Of a
/// loss that swings within every step (the sine of 1e8 x) they are numbers at random, of which two
/// may be near each other, but hardly three.
constexpr double clearlyWrong = 10;
/// How much further differences of shorter lengths may be from each other than those of longer ones
/// are, if rounding does not explain it. Where steps are longer than a swing, each tenth of a
/// length makes ten times the slope.
constexpr double mostGrowth = 2;

/// Passes each gradient through a marked identity, in their order at the builder's place, for what
/// stands behind that.
void mark(mlir::OpBuilder builder, llvm::ArrayRef<mlir::Value> gradients) {
  for (unsigned i = 0; i < gradients.size(); ++i) {
    mlir::Value gradient = gradients[i];
    auto marked = StopGradientOp::create(builder, gradient.getLoc(), gradient);
    marked->setAttr(marker, builder.getI64IntegerAttr(i));
    gradient.replaceUsesWithIf(marked, [&](mlir::OpOperand &use) {
      mlir::Operation *user = marked->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && marked->isBeforeInBlock(user);
    });
  }
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp>
differentiated(mlir::ModuleOp module, llvm::function_ref<void(mlir::ModuleOp)> afterwards) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager accumulation(module.getContext());
  accumulation.addNestedPass<mlir::func::FuncOp>(createAccumulateGradients());
  if (mlir::failed(accumulation.run(*copy)))
    return {};
  copy->walk([](GradientOp op) {
    mlir::OpBuilder behind(op.getContext());
    behind.setInsertionPointAfter(op);
    mark(behind, llvm::SmallVector<mlir::Value>(op.getGradients()));
  });
  mlir::PassManager manager(module.getContext());
  manager.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  if (mlir::failed(manager.run(*copy)))
    return {};
  if (afterwards)
    afterwards(*copy);
  return copy;
}

void markGradients(mlir::ModuleOp differentiated) {
  differentiated.walk([](ClipOp op) {
    llvm::SetVector<mlir::Value> each(op.getGradients().begin(), op.getGradients().end());
    mark(mlir::OpBuilder(op), each.getArrayRef());
  });
}

mlir::FailureOr<std::vector<Tensors>> gradientsOf(mlir::ModuleOp differentiated,
                                                  llvm::StringRef entry, const RandomInputs &feed,
                                                  bool rounds) {
  std::vector<Tensors> gradients;
  auto function = differentiated.lookupSymbol<mlir::func::FuncOp>(entry);
  auto any = function.walk([](mlir::Operation *op) {
    return op->hasAttr(marker) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  if (!any.wasInterrupted())
    return gradients;
  Interpreter interpreter;
  interpreter.rounds = rounds;
  interpreter.variables = feed.variables;
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    auto number = op->getAttrOfType<mlir::IntegerAttr>(marker);
    if (!number)
      return;
    if (number.getInt() == 0)
      gradients.emplace_back();
    gradients.back().push_back(results[0]);
  };
  if (mlir::failed(interpreter.run(function, feed.inputs.at(entry.str()))))
    return mlir::failure();
  return gradients;
}

Tensor randomDirection(llvm::ArrayRef<int64_t> shape, unsigned seed) {
  Tensor along(shape);
  uint32_t bits = 2654435761u * (seed + 1);
  for (double &value : along.values) {
    bits = bits * 1664525u + 1013904223u;
    value = bits >> 31 ? 1 : -1;
  }
  return along;
}

void moveGradients(Interpreter &interpreter,
                   std::function<void(unsigned number, Tensor &gradient)> change) {
  interpreter.compute = [change](mlir::Operation &op, Tensors operands,
                                 Interpreter &running) -> mlir::FailureOr<Tensors> {
    if (auto number = op.getAttrOfType<mlir::IntegerAttr>(marker)) {
      change(number.getInt(), operands[0]);
      return operands;
    }
    return llvm::cast<Interpretable>(op).evaluate(operands, running);
  };
}

mlir::FailureOr<Verdict> compareWithDifferences(GradientOp op, llvm::ArrayRef<Along> along,
                                                llvm::ArrayRef<Tensor> gradients, double largest,
                                                Interpreter &interpreter, double &relative) {
  auto scaleOf = [&](const Along &one) {
    return std::max({norm(gradients[one.source]), largest * 1e-3, 1e-30});
  };
  double scale = std::numeric_limits<double>::infinity();
  for (const Along &one : along)
    scale = std::min(scale, scaleOf(one));
  double product = 0;
  std::vector<Along> weighted(along.begin(), along.end());
  for (Along &one : weighted) {
    double weight = scale / scaleOf(one);
    for (auto [by, gradient] :
         llvm::zip_equal(one.direction.values, gradients[one.source].values)) {
      by *= weight;
      product += by * gradient;
    }
  }
  relative = std::numeric_limits<double>::infinity();
  // Rounding of the loss alone, divided by the step: what a gradient of zero leaves. Of several
  // sources it would forgive the large ones what only the smallest needs.
  double loss = interpreter.valueOf(op.getLoss()).values[0];
  double rounding = 1e-10 * (1 + std::abs(loss)), noise = rounding / scale;
  // Differences of such a loss say nothing of gradients of this size; of 1, where all are zero.
  if (rounding > mostNoise * (largest > 0 ? scale : 1))
    return Verdict::unknown;
  // Where the loss bends too much within the step, a shorter one is right, or what two of them say
  // of one without length: their errors go with its square (Richardson, "The deferred approach to
  // the limit", 1927). What is wrong stays wrong at every length.
  double length = 1, longer = NAN;
  std::vector<double> apart; // differences of one length from those of the next
  bool settles = true;
  for (int trial = 0; trial < 4; ++trial) {
    mlir::FailureOr<double> slope = directionalDerivative(op, weighted, interpreter);
    if (mlir::failed(slope))
      return mlir::failure();
    double here = *slope / length, limit = here + (here - longer) / 99;
    double off = std::abs(product - here) / scale, offLimit = std::abs(product - limit) / scale;
    for (double one : {off, offLimit})
      relative = std::min(relative, std::isnan(one) ? relative : one);
    if (relative <= gradientTolerance || (along.size() == 1 && off <= noise))
      return Verdict::agrees;
    if (double one = std::abs(here - longer) / scale; !std::isnan(one)) {
      settles &= apart.empty() || one <= mostGrowth * apart.back() || one <= 10 * noise / length;
      apart.push_back(one);
    }
    longer = here;
    length *= 0.1;
    for (Along &one : weighted)
      for (double &by : one.direction.values)
        by *= 0.1;
  }
  // Differences that are no nearer to each other than to the gradient do not tell what it should
  // be.
  llvm::sort(apart);
  return settles && apart.size() > 1 && relative > clearlyWrong * apart[1] ? Verdict::differs
                                                                           : Verdict::unknown;
}

Differences::Differences(GradientOp op, llvm::ArrayRef<Tensor> gradients, Interpreter &running)
    : op(op), gradients(gradients), running(running) {
  for (const Tensor &gradient : gradients)
    largest = std::max(largest, norm(gradient));
}

mlir::LogicalResult Differences::check(unsigned first, unsigned count, unsigned directions) {
  for (unsigned seed = 0; seed < directions; ++seed) {
    llvm::SmallVector<Along> along;
    for (unsigned source = first; source < first + count; ++source)
      along.push_back({source, randomDirection(gradients[source].shape, 2 * source + seed)});
    double relative;
    mlir::FailureOr<Verdict> verdict =
        compareWithDifferences(op, along, gradients, largest, running, relative);
    if (mlir::failed(verdict))
      return mlir::failure();
    if (*verdict == Verdict::agrees) {
      off = std::max(off, relative);
      continue;
    }
    if (count > 1)
      return mlir::success(
          mlir::succeeded(check(first, count / 2, directions)) &&
          mlir::succeeded(check(first + count / 2, count - count / 2, directions)));
    if (*verdict == Verdict::differs)
      wrong.emplace_back(first, relative);
    else
      unknown.push_back(first);
    break;
  }
  return mlir::success();
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
        if (tensorType(result).getElementType().isF32())
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
  return Blame{maker ? maker->getName().getStringRef().str() : "an argument", place.value.getLoc(),
               "the gradients of its uses are right, but their sum is not"};
}

} // namespace

std::optional<Blame> blameGradient(mlir::ModuleOp module, llvm::StringRef entry,
                                   const RandomInputs &feed,
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
  mlir::FailureOr<std::vector<Tensors>> gradients = gradientsOf(*twin, entry, feed, false);
  if (mlir::failed(gradients))
    return std::nullopt;

  std::optional<Blame> found;
  size_t round = 0;
  Interpreter interpreter;
  interpreter.rounds = false;
  interpreter.variables = feed.variables;
  interpreter.gradients = [&](GradientOp op, Interpreter &running) -> mlir::FailureOr<Tensors> {
    const Tensors &values = (*gradients)[round];
    double largest = 0;
    for (const Tensor &value : values)
      largest = std::max(largest, norm(value));
    for (const Opened &one : opened)
      for (const Opened::Place &place : one.places) {
        if (found || one.gradient != op)
          continue;
        Tensor direction = randomDirection(values[place.source].shape, place.source);
        double relative;
        auto verdict = compareWithDifferences(op, Along{place.source, direction}, values, largest,
                                              running, relative);
        if (mlir::failed(verdict))
          return mlir::failure();
        // Where the op has no value beside this one, differences say nothing of it.
        if (*verdict == Verdict::differs && std::isfinite(relative))
          found = blameOf(place);
      }
    ++round;
    return values;
  };
  (void)interpreter.run(function, feed.inputs.at(entry.str()));
  return found;
}

} // namespace weir
