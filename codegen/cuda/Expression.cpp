//===- Expression.cpp - Ops without effects as CUDA C++ -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Expression.h"
#include "codegen/cuda/Print.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weir {

bool isAtom(StringRef text) {
  if (text.ends_with("]") && text.find(' ') == StringRef::npos)
    text = text.take_front(text.find('['));
  return llvm::all_of(text, [](char c) { return isalnum(c) || c == '_' || c == '.'; });
}

std::string grouped(std::string text) { return isAtom(text) ? text : "(" + text + ")"; }

std::string callText(const std::string &name, Operation &op, OperandText textOf) {
  std::string text = name + "(";
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    text += (i ? ", " : "") + textOf(value);
  return text + ")";
}

std::string positionText(OpFoldResult position, OperandText textOf) {
  if (auto value = dyn_cast<Value>(position))
    return textOf(value);
  return std::to_string(cast<IntegerAttr>(cast<Attribute>(position)).getInt());
}

namespace {

/// Ops that take narrow numbers for signed ones, whose text is of unsigned types.
bool isSignedAndNarrow(Operation &op) {
  auto isNarrow = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isInteger(1) || element.isInteger(8) || element.isInteger(16);
  };
  if (auto compared = dyn_cast<arith::CmpIOp>(op))
    return isNarrow(compared.getLhs().getType()) &&
           compared.getPredicate() >= arith::CmpIPredicate::slt &&
           compared.getPredicate() <= arith::CmpIPredicate::sge;
  return isa<arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp, arith::DivSIOp, arith::RemSIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::ShRSIOp, math::AbsIOp>(op) &&
         (isNarrow(op.getOperand(0).getType()) || isNarrow(op.getResult(0).getType()));
}

/// One op's text: "" where the op is of another group than the function asked.
class Expression {
public:
  Expression(Operation &op, OperandText of) : op(op), of(of) {}

  std::string text() const;

private:
  std::string floats() const;
  std::string integers() const;
  std::string bits() const;
  std::string choices() const;
  std::string casts() const;
  std::string functions() const;

  std::string compare(arith::CmpFOp op) const;
  std::string compare(arith::CmpIOp op) const;

  std::string type() const { return cudaType(op.getResult(0).getType()); }
  std::string operand(unsigned i = 0) const { return grouped(of(op.getOperand(i))); }
  std::string binary(const char *sign) const { return operand(0) + " " + sign + " " + operand(1); }
  std::string call(const std::string &name) const { return callText(name, op, of); }
  /// A whole number's arithmetic: that of indices cannot overflow.
  std::string whole(const char *sign, const char *name) const {
    return op.getResult(0).getType().isIndex() ? binary(sign) : call(name);
  }
  /// The cast of a result's operands to an unsigned type of its width.
  const char *unsignedCast() const {
    return op.getResult(0).getType().isInteger(64) ? "(unsigned long long)" : "(unsigned)";
  }
  /// An operation on unsigned numbers. Indices are not negative, and stay signed.
  std::string ofUnsigned(const char *sign) const {
    if (op.getResult(0).getType().isIndex())
      return binary(sign);
    std::string cast = unsignedCast();
    return "(" + type() + ")(" + cast + operand() + " " + sign + " " + cast + operand(1) + ")";
  }
  /// A cast of the operand, which is read as unsigned if `integer`, the cast's type of whole
  /// numbers, has 32 bits.
  std::string unsignedConversion(Type integer) const {
    return "(" + type() + ")" + (integer.isInteger(32) ? "(unsigned)" : "") + operand();
  }

  Operation &op;
  OperandText of;
};

std::string Expression::compare(arith::CmpFOp op) const {
  using P = arith::CmpFPredicate;
  std::string a = grouped(of(op.getLhs())), b = grouped(of(op.getRhs()));
  switch (op.getPredicate()) {
  case P::OEQ:
    return a + " == " + b;
  case P::UNE:
    return a + " != " + b;
  case P::OLT:
    return a + " < " + b;
  case P::OLE:
    return a + " <= " + b;
  case P::OGT:
    return a + " > " + b;
  case P::OGE:
    return a + " >= " + b;
  case P::UGT:
    return "!(" + a + " <= " + b + ")";
  case P::UGE:
    return "!(" + a + " < " + b + ")";
  case P::ULT:
    return "!(" + a + " >= " + b + ")";
  case P::ULE:
    return "!(" + a + " > " + b + ")";
  case P::ORD:
    return a == b ? a + " == " + a : a + " == " + a + " && " + b + " == " + b;
  case P::UNO:
    return a == b ? a + " != " + a : a + " != " + a + " || " + b + " != " + b;
  case P::ONE:
    return a + " < " + b + " || " + a + " > " + b;
  case P::UEQ:
    return "!(" + a + " < " + b + " || " + a + " > " + b + ")";
  default:
    return "";
  }
}

std::string Expression::compare(arith::CmpIOp op) const {
  using P = arith::CmpIPredicate;
  static constexpr const char *signs[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  std::string a = grouped(of(op.getLhs())), b = grouped(of(op.getRhs()));
  if (op.getPredicate() >= P::ult) {
    std::string type = op.getLhs().getType().isInteger(64) ? "(unsigned long long)" : "(unsigned)";
    a = type + a, b = type + b;
  }
  return a + " " + signs[int(op.getPredicate())] + " " + b;
}

std::string Expression::floats() const {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::AddFOp) { return binary("+"); })
      .Case([&](arith::SubFOp) { return binary("-"); })
      .Case([&](arith::MulFOp) { return binary("*"); })
      .Case([&](arith::DivFOp quotient) {
        bool isRough = bitEnumContainsAny(quotient.getFastmath(), arith::FastMathFlags::arcp);
        return isRough ? call("__fdividef") : binary("/");
      })
      .Case([&](arith::NegFOp) { return "-" + operand(); })
      .Case([&](arith::MaximumFOp) { return call("weir_max"); })
      .Case([&](arith::MinimumFOp) { return call("weir_min"); })
      .Case([&](arith::MaxNumFOp) { return call("fmaxf"); })
      .Case([&](arith::MinNumFOp) { return call("fminf"); })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::integers() const {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::AddIOp) { return whole("+", "weir_add"); })
      .Case([&](arith::SubIOp) { return whole("-", "weir_sub"); })
      .Case([&](arith::MulIOp) { return whole("*", "weir_mul"); })
      .Case([&](arith::DivSIOp) { return binary("/"); })
      .Case([&](arith::RemSIOp) { return binary("%"); })
      .Case([&](arith::DivUIOp) { return ofUnsigned("/"); })
      .Case([&](arith::RemUIOp) { return ofUnsigned("%"); })
      .Case([&](arith::FloorDivSIOp) { return call("weir_floor_div"); })
      .Case([&](arith::MaxSIOp) { return call("weir_max"); })
      .Case([&](arith::MinSIOp) { return call("weir_min"); })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::bits() const {
  bool isBool = op.getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::AndIOp) { return binary(isBool ? "&&" : "&"); })
      .Case([&](arith::OrIOp) { return binary(isBool ? "||" : "|"); })
      .Case([&](arith::XOrIOp) { return binary("^"); })
      .Case([&](arith::ShLIOp) {
        return "(" + type() + ")((unsigned)" + operand() + " << " + operand(1) + ")";
      })
      .Case([&](arith::ShRUIOp) {
        return "(" + type() + ")(" + unsignedCast() + operand() + " >> " + operand(1) + ")";
      })
      .Case([&](arith::ShRSIOp) { return binary(">>"); })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::choices() const {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::CmpFOp compared) { return compare(compared); })
      .Case([&](arith::CmpIOp compared) { return compare(compared); })
      .Case([&](arith::SelectOp) { return operand() + " ? " + operand(1) + " : " + operand(2); })
      .Case([&](vector::ExtractOp extract) {
        return of(extract.getSource()) + "[" + positionText(extract.getMixedPosition()[0], of) +
               "]";
      })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::casts() const {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::BitcastOp cast) {
        if (cast.getType().isF32())
          return call("__int_as_float");
        return cast.getIn().getType().isF32() ? call("__float_as_int") : of(cast.getIn());
      })
      .Case<arith::ExtUIOp, arith::UIToFPOp>(
          [&](auto cast) { return unsignedConversion(cast.getIn().getType()); })
      .Case([&](arith::FPToUIOp cast) { return unsignedConversion(cast.getType()); })
      .Case<arith::TruncIOp, arith::IndexCastOp, arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto cast) {
            if (cudaType(cast.getIn().getType()) == type())
              return of(cast.getIn());
            return "(" + type() + ")" + operand();
          })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::functions() const {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](math::SqrtOp) { return call("sqrtf"); })
      .Case([&](math::AbsFOp) { return call("fabsf"); })
      .Case([&](math::AbsIOp) { return call("abs"); })
      .Case([&](math::FloorOp) { return call("floorf"); })
      .Case([&](math::RoundEvenOp) { return call("rintf"); })
      .Case([&](math::FmaOp) { return call("fmaf"); })
      .Case([&](math::CopySignOp) { return call("copysignf"); })
      .Default([](Operation *) { return std::string(); });
}

std::string Expression::text() const {
  if (isSignedAndNarrow(op))
    return "";
  for (auto group : {&Expression::floats, &Expression::integers, &Expression::bits,
                     &Expression::choices, &Expression::casts, &Expression::functions})
    if (std::string text = (this->*group)(); !text.empty())
      return text;
  return "";
}

} // namespace

std::string expressionText(Operation &op, OperandText textOf, std::set<std::string> &calls) {
  if (std::string name = elementaryFunction(&op); !name.empty()) {
    calls.insert(name);
    return callText(name, op, textOf);
  }
  return Expression(op, textOf).text();
}

} // namespace weir
