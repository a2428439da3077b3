//===- Index.cpp - Index arithmetic with known ranges ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Index.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace weir {
namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.getSExtValue();
  return std::nullopt;
}

/// expr = sum of coefficient * term, the constant under a null term.
void collectTerms(AffineExpr expr, int64_t factor,
                  SmallVectorImpl<std::pair<AffineExpr, int64_t>> &terms) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    terms.push_back({AffineExpr(), factor * constant.getValue()});
    return;
  }
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    if (binary.getKind() == AffineExprKind::Add) {
      collectTerms(binary.getLHS(), factor, terms);
      collectTerms(binary.getRHS(), factor, terms);
      return;
    }
    if (binary.getKind() == AffineExprKind::Mul)
      if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
        collectTerms(binary.getLHS(), factor * constant.getValue(), terms);
        return;
      }
  }
  terms.push_back({expr, factor});
}

} // namespace

AffineExpr IndexSpace::symbolOf(Value value, std::optional<IndexRange> range) {
  AffineExpr symbol = getAffineSymbolExpr(symbols.size(), context);
  symbols.push_back({value, range});
  if (range && range->low == range->high)
    symbol = constant(range->low);
  known[value] = symbol;
  return symbol;
}

AffineExpr IndexSpace::declare(Value value, int64_t size) {
  return symbolOf(value, IndexRange{0, size - 1});
}

void IndexSpace::rebind(AffineExpr symbol, Value value) {
  known[value] = symbol;
  if (auto name = dyn_cast<AffineSymbolExpr>(symbol))
    symbols[name.getPosition()].value = value;
}

std::optional<int64_t> IndexSpace::strideIn(AffineExpr expr, AffineExpr symbol) {
  auto name = dyn_cast<AffineSymbolExpr>(symbol);
  if (!name)
    return 0;
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
  collectTerms(expr, 1, terms);
  int64_t stride = 0;
  for (auto [term, factor] : terms) {
    if (term == symbol)
      stride += factor;
    else if (term && term.isFunctionOfSymbol(name.getPosition()))
      return std::nullopt;
  }
  return stride;
}

AffineExpr IndexSpace::exprOf(Value index) {
  auto it = known.find(index);
  if (it != known.end())
    return it->second;
  AffineExpr expr = read(index);
  known[index] = expr;
  return expr;
}

AffineExpr IndexSpace::read(Value index) {
  if (auto value = constantOf(index))
    return constant(*value);
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      if (argument == loop.getInductionVar()) {
        auto low = constantOf(loop.getLowerBound()), high = constantOf(loop.getUpperBound());
        if (low && high && *low < *high)
          return symbolOf(index, IndexRange{*low, *high - 1});
      }
    return symbolOf(index, std::nullopt);
  }
  Operation *op = index.getDefiningOp();
  if (op->getNumOperands() == 2) {
    AffineExpr lhs = exprOf(op->getOperand(0));
    AffineExpr rhs = exprOf(op->getOperand(1));
    auto rhsConstant = dyn_cast<AffineConstantExpr>(rhs);
    auto lhsRange = rangeOf(lhs), rhsRange = rangeOf(rhs);
    if (isa<arith::AddIOp>(op))
      return simplify(lhs + rhs);
    if (isa<arith::SubIOp>(op))
      return simplify(lhs - rhs);
    if (isa<arith::MulIOp>(op) && (rhsConstant || isa<AffineConstantExpr>(lhs)))
      return simplify(lhs * rhs);
    bool positive = rhsConstant && rhsConstant.getValue() > 0;
    bool natural = lhsRange && lhsRange->low >= 0;
    if (positive &&
        (isa<arith::FloorDivSIOp>(op) || (natural && isa<arith::DivUIOp, arith::DivSIOp>(op))))
      return simplify(lhs.floorDiv(rhs));
    if (positive && natural && isa<arith::RemUIOp, arith::RemSIOp>(op))
      return simplify(lhs % rhs);
    if (lhsRange && rhsRange) {
      if (isa<arith::MinSIOp>(op) && lhsRange->high <= rhsRange->low)
        return lhs;
      if (isa<arith::MinSIOp>(op) && rhsRange->high <= lhsRange->low)
        return rhs;
      if (isa<arith::MaxSIOp>(op) && lhsRange->low >= rhsRange->high)
        return lhs;
      if (isa<arith::MaxSIOp>(op) && rhsRange->low >= lhsRange->high)
        return rhs;
    }
  }
  return symbolOf(index, std::nullopt);
}

std::optional<IndexRange> IndexSpace::rangeOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexRange{constant.getValue(), constant.getValue()};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()].range;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto lhs = rangeOf(binary.getLHS()), rhs = rangeOf(binary.getRHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    if (lhs && rhs)
      return IndexRange{lhs->low + rhs->low, lhs->high + rhs->high};
    return std::nullopt;
  case AffineExprKind::Mul:
    if (!lhs || !divisor)
      return std::nullopt;
    if (divisor.getValue() < 0)
      return IndexRange{lhs->high * divisor.getValue(), lhs->low * divisor.getValue()};
    return IndexRange{lhs->low * divisor.getValue(), lhs->high * divisor.getValue()};
  case AffineExprKind::Mod:
    if (!divisor)
      return std::nullopt;
    return IndexRange{0, lhs && lhs->low >= 0 ? std::min(lhs->high, divisor.getValue() - 1)
                                              : divisor.getValue() - 1};
  case AffineExprKind::FloorDiv:
    if (!lhs || !divisor)
      return std::nullopt;
    return IndexRange{llvm::divideFloorSigned(lhs->low, divisor.getValue()),
                      llvm::divideFloorSigned(lhs->high, divisor.getValue())};
  default:
    return std::nullopt;
  }
}

AffineExpr IndexSpace::divide(AffineExpr expr, int64_t divisor, bool remainder) {
  SmallVector<std::pair<AffineExpr, int64_t>> terms;
  collectTerms(expr, 1, terms);
  AffineExpr quotient = constant(0), rest = constant(0);
  int64_t common = divisor;
  for (auto [term, factor] : terms) {
    if (!term) {
      int64_t whole = llvm::divideFloorSigned(factor, divisor);
      quotient = quotient + whole;
      rest = rest + (factor - whole * divisor);
      common = std::gcd(common, factor - whole * divisor);
    } else if (factor % divisor == 0) {
      quotient = quotient + term * (factor / divisor);
    } else {
      rest = rest + term * factor;
      common = std::gcd(common, factor);
    }
  }
  auto range = rangeOf(rest);
  if (range && range->low >= 0 && range->high < divisor)
    return remainder ? rest : quotient;
  // With 0 <= low < g: (g x + low) floordiv (g d) = x floordiv d, and the remainder is g (x mod d)
  // + low.
  SmallVector<std::pair<AffineExpr, int64_t>> parts;
  collectTerms(rest, 1, parts);
  SmallVector<int64_t> grains{common};
  for (auto [term, factor] : parts)
    if (term && factor > 1)
      grains.push_back(std::gcd(factor, divisor));
  llvm::sort(grains, std::greater<>());
  for (int64_t grain : grains) {
    if (grain <= 1 || grain >= divisor)
      continue;
    AffineExpr reduced = constant(0), low = constant(0);
    for (auto [term, factor] : parts) {
      if (factor % grain == 0)
        reduced = reduced + (term ? term * (factor / grain) : constant(factor / grain));
      else
        low = low + (term ? term * factor : constant(factor));
    }
    auto lowRange = rangeOf(low);
    if (lowRange && lowRange->low >= 0 && lowRange->high < grain)
      return remainder ? divide(reduced, divisor / grain, true) * grain + low
                       : quotient + divide(reduced, divisor / grain, false);
  }
  return remainder ? rest % divisor : quotient + rest.floorDiv(divisor);
}

AffineExpr IndexSpace::simplify(AffineExpr expr) {
  expr = simplifyAffineExpr(expr, 0, symbols.size());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return simplifyAffineExpr(lhs + rhs, 0, symbols.size());
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return divisor && divisor.getValue() > 0 ? divide(lhs, divisor.getValue(), false)
                                             : lhs.floorDiv(rhs);
  case AffineExprKind::Mod:
    return divisor && divisor.getValue() > 0 ? divide(lhs, divisor.getValue(), true) : lhs % rhs;
  default:
    return expr;
  }
}

AffineExpr IndexSpace::linearize(ArrayRef<AffineExpr> indices, ArrayRef<int64_t> shape) {
  AffineExpr position = constant(0);
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    position = position * size + index;
  return simplify(position);
}

SmallVector<AffineExpr> IndexSpace::delinearize(AffineExpr position, ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> indices(shape.size());
  // Quotients of quotients, not of products of sizes: only so does linearize find the position
  // again.
  AffineExpr rest = position;
  for (size_t i = shape.size(); i-- > 0;) {
    indices[i] = shape[i] == 1 ? constant(0) : simplify(i == 0 ? rest : rest % shape[i]);
    rest = shape[i] == 1 ? rest : simplify(rest.floorDiv(shape[i]));
  }
  return indices;
}

bool IndexSpace::isOutside(AffineExpr expr, Region &region) {
  bool outside = true;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      outside &= !region.isAncestor(symbols[symbol.getPosition()].value.getParentRegion());
  });
  return outside;
}

Value IndexSpace::materialize(OpBuilder &builder, Location loc, AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()].value;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = materialize(builder, loc, binary.getLHS());
  Value rhs = materialize(builder, loc, binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  case AffineExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  case AffineExprKind::FloorDiv: {
    auto range = rangeOf(binary.getLHS());
    return range && range->low >= 0 ? builder.createOrFold<arith::DivUIOp>(loc, lhs, rhs)
                                    : builder.createOrFold<arith::FloorDivSIOp>(loc, lhs, rhs);
  }
  case AffineExprKind::Mod: {
    auto range = rangeOf(binary.getLHS());
    if (range && range->low >= 0)
      return builder.createOrFold<arith::RemUIOp>(loc, lhs, rhs);
    Value whole = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    return arith::SubIOp::create(builder, loc, lhs,
                                 arith::MulIOp::create(builder, loc, whole, rhs));
  }
  default:
    llvm_unreachable("an expression that IndexSpace does not build");
  }
}

} // namespace weir
