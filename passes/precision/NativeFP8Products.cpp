//===- NativeFP8Products.cpp - Products with FP8 operands -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixed precision rounds an operand to eight bits with a scale that is a power of two, and widens
// the result to bf16, which is exact (Scaler.h). So products of bf16 are correct on every target.
// This pass finds such operands, and makes products of FP8 on targets with FP8 tensor cores. It
// runs just before the pass that widens operands (UpcastUnsupported.cpp).
//
//   d = cast bf16 (select (is_finite w), (cast f32 q) * s, w), q = cast f8 c
//
// is s q where w is finite. Where w is not finite, q' = cast f8 (select (is_finite w), c, w) is not
// finite either, though an infinity may become NaN.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include <optional>

namespace weir {
#define GEN_PASS_DEF_NATIVEFP8PRODUCTS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

Type elementAt(Value value) { return tensorType(value).getElementType(); }

bool isPowerOfTwo(Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  return real && real.getValue().isFiniteNonZero() && real.getValue().getExactLog2Abs() != INT_MIN;
}

/// Whether all elements are powers of two, for any input of the program.
bool isPowerOfTwo(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<PowerOfTwoOp>(op))
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isPowerOfTwo(constant.getValue());
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getVariable() == runLossScaleName;
  if (auto select = dyn_cast<SelectOp>(op))
    return isPowerOfTwo(op->getOperand(1)) && isPowerOfTwo(op->getOperand(2));
  bool isKept =
      isa<MulOp, DivOp, ConcatOp, View>(op) || (isa<CastOp>(op) && !isLow(elementAt(value)));
  return isKept && llvm::all_of(op->getOperands(), [](Value from) { return isPowerOfTwo(from); });
}

/// An f8 value times a power of two.
struct Scaled {
  CastOp low;      ///< to f8
  Value power;     ///< f32, one element
  SelectOp finite; ///< keeps non-finite values; null if there is none
};

std::optional<Scaled> scaledBehind(Value value) {
  // bf16 represents a power of two times any f8 value exactly; other types would round it once
  // more.
  auto whole = value.getDefiningOp<CastOp>();
  if (!whole || !elementAt(whole).isBF16())
    return std::nullopt;
  Value wide = whole.getInput();
  auto finite = wide.getDefiningOp<SelectOp>();
  if (finite) {
    auto test = finite->getOperand(0).getDefiningOp<IsFiniteOp>();
    if (!test || test->getOperand(0) != finite->getOperand(2))
      return std::nullopt;
    wide = finite->getOperand(1);
  }
  auto mul = wide.getDefiningOp<MulOp>();
  if (!mul)
    return std::nullopt;
  auto widened = mul.getLhs().getDefiningOp<CastOp>();
  auto low = widened ? widened.getInput().getDefiningOp<CastOp>() : CastOp();
  auto spread = mul.getRhs().getDefiningOp<BroadcastOp>();
  if (!low || storedBytes(elementAt(low)) != 1 || !isLow(elementAt(low)) || !spread ||
      tensorType(spread.getInput()).getNumElements() != 1 || !isPowerOfTwo(spread.getInput()))
    return std::nullopt;
  return Scaled{low, spread.getInput(), finite};
}

/// The source of the operand's views, as rounded.
std::optional<Scaled> scaledOf(Value factor) {
  while (isa_and_nonnull<View>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return scaledBehind(factor);
}

struct NativeFP8Products : weir::impl::NativeFP8ProductsBase<NativeFP8Products> {
  using NativeFP8ProductsBase::NativeFP8ProductsBase;
  explicit NativeFP8Products(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    bool any = false;
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      SmallVector<MatmulOp> products;
      entry.walk([&](MatmulOp product) { products.push_back(product); });
      bool changes = false;
      for (MatmulOp product : products)
        changes |= narrow(product);
      lows.clear();
      turned.clear();
      any |= changes;
      IRRewriter rewriter(&getContext());
      if (changes)
        (void)runRegionDCE(rewriter, entry.getBody());
    }
    if (!any)
      markAllAnalysesPreserved();
  }

private:
  bool narrow(MatmulOp product) {
    std::optional<Scaled> lhs = scaledOf(product.getLhs()), rhs = scaledOf(product.getRhs());
    if (!lhs || !rhs || !made->multiplies(product, elementAt(lhs->low), elementAt(rhs->low)))
      return false;
    Value left = narrowed(product.getLhs()), right = narrowed(product.getRhs());
    OpBuilder builder(product);
    if (product.getTransposeLhs())
      left = turnedOver(left, product);
    if (!product.getTransposeRhs())
      right = turnedOver(right, product);
    auto sums = cast<MatmulOp>(builder.clone(*product));
    sums->setOperands({left, right});
    sums.setTransposeLhs(false);
    sums.setTransposeRhs(true);
    Value result = sums.getResult();
    for (Value power : {lhs->power, rhs->power}) {
      auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(power).size()));
      Value everywhere =
          BroadcastOp::create(builder, product.getLoc(), result.getType(), power, dimensions);
      result = MulOp::create(builder, product.getLoc(), result, everywhere);
    }
    product.replaceAllUsesWith(result);
    product.erase();
    return true;
  }

  /// The f8 operand, created where it is defined.
  Value narrowed(Value factor) {
    if (Value known = lows.lookup(factor))
      return known;
    Operation *op = factor.getDefiningOp();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(op);
    if (isa<View>(op)) {
      Value source = narrowed(op->getOperand(0));
      Operation *moved = builder.clone(*op);
      moved->setOperand(0, source);
      moved->getResult(0).setType(tensorType(factor).clone(elementAt(source)));
      return lows[factor] = moved->getResult(0);
    }
    Scaled scaled = *scaledBehind(factor);
    Value low = scaled.low;
    if (scaled.finite) {
      Operation *select = builder.clone(*scaled.finite);
      select->setOperand(1, scaled.low.getInput());
      low = CastOp::create(builder, scaled.low.getLoc(), low.getType(), select->getResult(0));
    }
    return lows[factor] = low;
  }

  /// Its transpose, created once for all products that need it: before the first, or before the
  /// microbatches that contain it.
  Value turnedOver(Value matrix, MatmulOp first) {
    Value &known = turned[matrix];
    if (!known) {
      OpBuilder builder(matrix.getParentBlock()->findAncestorOpInBlock(*first));
      known = TransposeOp::create(builder, matrix.getLoc(), matrix,
                                  builder.getDenseI64ArrayAttr({1, 0}));
    }
    return known;
  }

  PassTarget made;
  llvm::DenseMap<Value, Value> lows;
  llvm::DenseMap<Value, Value> turned;
};

} // namespace

std::unique_ptr<Pass> weir::createNativeFP8Products(std::shared_ptr<Target> target) {
  return std::make_unique<NativeFP8Products>(std::move(target));
}
