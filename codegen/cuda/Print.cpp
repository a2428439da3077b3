//===- Print.cpp - Scalar code as CUDA C++ --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Print.h"
#include "ir/weir/structure/Structure.h"

#include "codegen/kernel/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace weir {

std::string cudaType(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return "weir_vec<" + cudaType(vector.getElementType()) + ", " +
           std::to_string(vector.getNumElements()) + ">";
  if (type.isF32())
    return "float";
  if (isa<FloatType>(type)) // low precision is its bits
    return cudaType(IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth()));
  if (type.isIndex() || type.isInteger(32))
    return "int";
  if (type.isInteger(1))
    return "bool";
  if (type.isInteger(8))
    return "unsigned char";
  if (type.isInteger(16))
    return "unsigned short";
  return "long long";
}

std::string cudaConstant(int32_t value) {
  return value == std::numeric_limits<int32_t>::min() ? "(-2147483647 - 1)" : std::to_string(value);
}

std::string cudaConstant(float value) {
  if (std::isnan(value))
    return "__int_as_float(0x7fc00000)";
  if (std::isinf(value))
    return value < 0 ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
  char text[32];
  snprintf(text, sizeof text, "%.9g", double(value));
  std::string number = text;
  if (number.find_first_of(".e") == std::string::npos)
    number += ".0";
  return number + "f";
}

std::string formatName(Type type) {
  if (type.isBF16())
    return "bf16";
  return type.isF16() ? "f16" : isa<Float8E4M3FNType>(type) ? "f8e4m3" : "f8e5m2";
}

std::string elementaryFunction(Operation *op) {
  if (isa<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp, math::ErfOp,
          math::SinOp, math::CosOp>(op))
    return "weir_" + op->getName().stripDialect().str();
  if (isa<arith::ExtFOp>(op))
    return "weir_f32_of_" + formatName(op->getOperand(0).getType());
  if (isa<arith::TruncFOp>(op))
    return "weir_" + formatName(op->getResult(0).getType()) + "_of_f32";
  return "";
}

namespace {

/// Longer text gets a line of its own.
constexpr size_t longestInline = 64;

/// A name or a number, indexed perhaps.
bool isAtom(StringRef text) {
  if (text.ends_with("]") && text.find(' ') == StringRef::npos)
    text = text.take_front(text.find('['));
  return llvm::all_of(text, [](char c) { return isalnum(c) || c == '_' || c == '.'; });
}

/// In parentheses where it has operators.
std::string grouped(std::string text) { return isAtom(text) ? text : "(" + text + ")"; }

std::string textOf(TypedAttr attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    if (real.getType().isF32())
      return cudaConstant(real.getValue().convertToFloat());
    return std::to_string(real.getValue().bitcastToAPInt().getZExtValue());
  }
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    return "weir_splat" + cudaType(splat.getType()).substr(std::string("weir_vec").size()) + "(" +
           textOf(cast<TypedAttr>(splat.getSplatValue<Attribute>())) + ")";
  const APInt &number = cast<IntegerAttr>(attribute).getValue();
  if (attribute.getType().isInteger(1))
    return number.isZero() ? "false" : "true";
  if (attribute.getType().isInteger(8) || attribute.getType().isInteger(16))
    return std::to_string(number.getZExtValue());
  int64_t value = number.getSExtValue();
  if (attribute.getType().isInteger(64))
    return std::to_string(value) + "ll";
  return cudaConstant(int32_t(value));
}

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

class Printer {
public:
  explicit Printer(std::set<std::string> &calls) : calls(calls) {}

  FailureOr<std::string> print(func::FuncOp function, const FunctionText &text);

private:
  /// What stands for an address: `base` is a pointer to `element`.
  struct Address {
    std::string base, index;
    Type element;
  };

  LogicalResult print(Block &block);
  LogicalResult print(Operation &op);
  LogicalResult printLoop(scf::ForOp loop);
  LogicalResult printChoice(scf::IfOp choice);
  /// Assigns values to variables, all at once.
  void assign(ArrayRef<std::string> names, ValueRange values);
  std::string expression(Operation &op);
  std::string compare(arith::CmpFOp op);
  std::string compare(arith::CmpIOp op);
  Address addressOf(Value pointer, Type element);
  std::string place(Value pointer, Type element) {
    Address at = addressOf(pointer, element);
    return at.base + "[" + at.index + "]";
  }

  void line(const std::string &text) {
    out.append(2 * depth, ' ');
    out += text + "\n";
  }
  std::string fresh(Type type) {
    if (isa<VectorType>(type))
      return "v" + std::to_string(names['v']++);
    char kind = isa<FloatType>(type) ? 'x' : type.isInteger(1) ? 'b' : 'n';
    return kind + std::to_string(names[kind]++);
  }
  std::string of(Value value) {
    auto found = texts.find(value);
    assert(found != texts.end() && "values are printed before their uses");
    return found->second;
  }
  std::string operand(Operation &op, unsigned i = 0) { return grouped(of(op.getOperand(i))); }
  std::string binary(Operation &op, const char *sign) {
    return operand(op, 0) + " " + sign + " " + operand(op, 1);
  }
  std::string call(const std::string &name, Operation &op) {
    std::string text = name + "(";
    for (auto [i, value] : llvm::enumerate(op.getOperands()))
      text += (i ? ", " : "") + of(value);
    return text + ")";
  }
  /// A whole number's arithmetic: that of indices cannot overflow.
  std::string whole(Operation &op, const char *sign, const char *name) {
    return op.getResult(0).getType().isIndex() ? binary(op, sign) : call(name, op);
  }

  std::set<std::string> &calls;
  std::string out;
  int depth = 1;
  llvm::DenseMap<Value, std::string> texts;
  llvm::DenseMap<Value, Address> addresses;
  llvm::DenseSet<Value> bytePointers; ///< behind which there may be anything
  std::map<char, int> names;
};

std::string Printer::compare(arith::CmpFOp op) {
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

std::string Printer::compare(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  static constexpr const char *signs[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  std::string a = grouped(of(op.getLhs())), b = grouped(of(op.getRhs()));
  if (op.getPredicate() >= P::ult) {
    std::string type = op.getLhs().getType().isInteger(64) ? "(unsigned long long)" : "(unsigned)";
    a = type + a, b = type + b;
  }
  return a + " " + signs[int(op.getPredicate())] + " " + b;
}

/// An address without an offset is a pointer itself.
Printer::Address Printer::addressOf(Value pointer, Type element) {
  std::string type = cudaType(getElementTypeOrSelf(element));
  auto found = addresses.find(pointer);
  if (found != addresses.end()) {
    const Address &at = found->second;
    if (cudaType(at.element) == type)
      return at;
    // Folding leaves an offset of bytes for what begins there.
    return {"((" + type + " *)(" + at.base + " + " + at.index + "))", "0", element};
  }
  std::string base = of(pointer);
  if (bytePointers.contains(pointer) && type != "unsigned char")
    base = "((" + type + " *)" + base + ")";
  return {base, "0", element};
}

/// The text of an op with one result that has no effects; "" for any other.
std::string Printer::expression(Operation &op) {
  if (std::string name = elementaryFunction(&op); !name.empty()) {
    calls.insert(name);
    return call(name, op);
  }
  if (isSignedAndNarrow(op))
    return "";
  auto type = [&] { return cudaType(op.getResult(0).getType()); };
  // Of indices, which are not negative, as of signed numbers.
  auto ofUnsigned = [&](const char *sign) {
    if (op.getResult(0).getType().isIndex())
      return binary(op, sign);
    std::string cast =
        op.getResult(0).getType().isInteger(64) ? "(unsigned long long)" : "(unsigned)";
    return "(" + type() + ")(" + cast + operand(op) + " " + sign + " " + cast + operand(op, 1) +
           ")";
  };
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::AddFOp) { return binary(op, "+"); })
      .Case([&](arith::SubFOp) { return binary(op, "-"); })
      .Case([&](arith::MulFOp) { return binary(op, "*"); })
      .Case([&](arith::DivFOp quotient) {
        bool isRough = bitEnumContainsAny(quotient.getFastmath(), arith::FastMathFlags::arcp);
        return isRough ? call("__fdividef", op) : binary(op, "/");
      })
      .Case([&](arith::NegFOp) { return "-" + operand(op); })
      .Case([&](arith::AddIOp) { return whole(op, "+", "weir_add"); })
      .Case([&](arith::SubIOp) { return whole(op, "-", "weir_sub"); })
      .Case([&](arith::MulIOp) { return whole(op, "*", "weir_mul"); })
      .Case([&](arith::DivSIOp) { return binary(op, "/"); })
      .Case([&](arith::RemSIOp) { return binary(op, "%"); })
      .Case([&](arith::DivUIOp) { return ofUnsigned("/"); })
      .Case([&](arith::RemUIOp) { return ofUnsigned("%"); })
      .Case([&](arith::FloorDivSIOp) { return call("weir_floor_div", op); })
      .Case([&](arith::AndIOp) {
        return binary(op, op.getResult(0).getType().isInteger(1) ? "&&" : "&");
      })
      .Case([&](arith::OrIOp) {
        return binary(op, op.getResult(0).getType().isInteger(1) ? "||" : "|");
      })
      .Case([&](arith::XOrIOp) { return binary(op, "^"); })
      .Case([&](arith::ShLIOp) {
        return "(" + type() + ")((unsigned)" + operand(op) + " << " + operand(op, 1) + ")";
      })
      .Case([&](arith::ShRUIOp) {
        const char *unsignedType =
            op.getResult(0).getType().isInteger(64) ? "(unsigned long long)" : "(unsigned)";
        return "(" + type() + ")(" + unsignedType + operand(op) + " >> " + operand(op, 1) + ")";
      })
      .Case([&](arith::ShRSIOp) { return binary(op, ">>"); })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([&](auto) { return call("weir_max", op); })
      .Case<arith::MinimumFOp, arith::MinSIOp>([&](auto) { return call("weir_min", op); })
      .Case([&](arith::MaxNumFOp) { return call("fmaxf", op); })
      .Case([&](arith::MinNumFOp) { return call("fminf", op); })
      .Case([&](arith::CmpFOp compared) { return compare(compared); })
      .Case([&](arith::CmpIOp compared) { return compare(compared); })
      .Case([&](arith::SelectOp) {
        return operand(op) + " ? " + operand(op, 1) + " : " + operand(op, 2);
      })
      .Case([&](arith::BitcastOp cast) {
        if (cast.getType().isF32())
          return call("__int_as_float", op);
        return cast.getIn().getType().isF32() ? call("__float_as_int", op) : of(cast.getIn());
      })
      .Case([&](arith::ExtUIOp cast) {
        if (cast.getIn().getType().isInteger(32))
          return "(" + type() + ")(unsigned)" + operand(op);
        return "(" + type() + ")" + operand(op);
      })
      .Case([&](arith::UIToFPOp cast) {
        if (cast.getIn().getType().isInteger(32))
          return "(" + type() + ")(unsigned)" + operand(op);
        return "(" + type() + ")" + operand(op);
      })
      .Case([&](arith::FPToUIOp cast) {
        if (cast.getType().isInteger(32))
          return "(" + type() + ")(unsigned)" + operand(op);
        return "(" + type() + ")" + operand(op);
      })
      .Case<arith::TruncIOp, arith::IndexCastOp, arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto cast) {
            if (cudaType(cast.getIn().getType()) == type())
              return of(cast.getIn());
            return "(" + type() + ")" + operand(op);
          })
      .Case([&](math::SqrtOp) { return call("sqrtf", op); })
      .Case([&](math::AbsFOp) { return call("fabsf", op); })
      .Case([&](math::AbsIOp) { return call("abs", op); })
      .Case([&](math::FloorOp) { return call("floorf", op); })
      .Case([&](math::RoundEvenOp) { return call("rintf", op); })
      .Case([&](math::FmaOp) { return call("fmaf", op); })
      .Case([&](math::CopySignOp) { return call("copysignf", op); })
      .Case([&](vector::ExtractOp extract) {
        auto at = extract.getMixedPosition();
        return of(extract.getSource()) + "[" +
               (isa<Value>(at[0])
                    ? of(cast<Value>(at[0]))
                    : std::to_string(cast<IntegerAttr>(cast<Attribute>(at[0])).getInt())) +
               "]";
      })
      .Default([](Operation *) { return std::string(); });
}

void Printer::assign(ArrayRef<std::string> variables, ValueRange values) {
  SmallVector<std::string> sources;
  for (auto [name, value] : llvm::zip_equal(variables, values))
    sources.push_back(of(value));
  // One variable's new value may be read from another's old one.
  for (size_t i = 0; i < sources.size(); ++i)
    for (size_t j = 0; variables.size() > 1 && j < i; ++j)
      if (sources[i] != variables[i] && sources[i].find(variables[j]) != std::string::npos) {
        std::string kept = fresh(values[i].getType());
        line("const " + cudaType(values[i].getType()) + " " + kept + " = " + sources[i] + ";");
        sources[i] = kept;
        break;
      }
  for (auto [name, source] : llvm::zip_equal(variables, sources))
    if (name != source)
      line(name + " = " + source + ";");
}

LogicalResult Printer::printLoop(scf::ForOp loop) {
  SmallVector<std::string> carried;
  for (auto [init, argument, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    std::string name = fresh(init.getType());
    bool isUnset = init.getDefiningOp<ub::PoisonOp>();
    line(cudaType(init.getType()) + " " + name + (isUnset ? "" : " = " + of(init)) + ";");
    texts[argument] = name;
    texts[result] = name;
    carried.push_back(name);
  }
  std::string index = "i" + std::to_string(names['i']++);
  texts[loop.getInductionVar()] = index;
  std::string step = of(loop.getStep());
  if (loop->hasAttr("weir.unroll"))
    line("#pragma unroll");
  line("for (int " + index + " = " + of(loop.getLowerBound()) + "; " + index + " < " +
       grouped(of(loop.getUpperBound())) + "; " +
       (step == "1" ? "++" + index : index + " += " + step) + ") {");
  ++depth;
  if (failed(print(*loop.getBody())))
    return failure();
  assign(carried, loop.getBody()->getTerminator()->getOperands());
  --depth;
  line("}");
  return success();
}

LogicalResult Printer::printChoice(scf::IfOp choice) {
  SmallVector<std::string> variables;
  for (Value result : choice.getResults()) {
    std::string name = fresh(result.getType());
    line(cudaType(result.getType()) + " " + name + ";");
    texts[result] = name;
    variables.push_back(name);
  }
  line("if (" + of(choice.getCondition()) + ") {");
  for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
    if (!block || (block == choice.elseBlock() && variables.empty() &&
                   llvm::hasSingleElement(block->getOperations())))
      continue;
    if (block == choice.elseBlock())
      line("} else {");
    ++depth;
    if (failed(print(*block)))
      return failure();
    assign(variables, block->getTerminator()->getOperands());
    --depth;
  }
  line("}");
  return success();
}

LogicalResult Printer::print(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return printChoice(choice);
  if (isa<scf::YieldOp, func::ReturnOp, ub::PoisonOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    texts[constant] = textOf(constant.getValue());
    return success();
  }
  if (auto array = dyn_cast<LLVM::AllocaOp>(op)) {
    std::string name = "own" + std::to_string(names['o']++);
    line(cudaType(array.getElemType()) + " " + name + "[" + of(array.getArraySize()) + "];");
    texts[array] = name;
    return success();
  }
  if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
    auto index = gep.getIndices()[0];
    std::string at = isa<Value>(index) ? of(cast<Value>(index))
                                       : std::to_string(cast<IntegerAttr>(index).getInt());
    std::string type = cudaType(gep.getElemType());
    // Pointers of which parts are taken are to bytes; the part is of what is read there.
    std::string base;
    if (auto inner = addresses.find(gep.getBase()); inner != addresses.end())
      base = "((" + type + " *)(" + inner->second.base + " + " + inner->second.index + "))";
    else if (bytePointers.contains(gep.getBase()) && type != "unsigned char")
      base = "((" + type + " *)" + of(gep.getBase()) + ")";
    else
      base = of(gep.getBase());
    addresses[gep] = {base, at, gep.getElemType()};
    return success();
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    std::string name = fresh(load.getType());
    std::string source = place(load.getAddr(), load.getType());
    if (auto vector = dyn_cast<VectorType>(load.getType())) {
      Address at = addressOf(load.getAddr(), vector);
      source = "weir_load<" + cudaType(vector.getElementType()) + ", " +
               std::to_string(vector.getNumElements()) + ">(" + at.base + " + " +
               grouped(at.index) + ")";
    }
    line("const " + cudaType(load.getType()) + " " + name + " = " + source + ";");
    texts[load] = name;
    return success();
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    if (isa<VectorType>(store.getValue().getType())) {
      Address at = addressOf(store.getAddr(), store.getValue().getType());
      line("weir_store(" + at.base + " + " + grouped(at.index) + ", " + of(store.getValue()) +
           ");");
    } else {
      line(place(store.getAddr(), store.getValue().getType()) + " = " + of(store.getValue()) + ";");
    }
    return success();
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    auto at = insert.getMixedPosition()[0];
    line(of(insert.getDest()) + "[" +
         (isa<Value>(at) ? of(cast<Value>(at))
                         : std::to_string(cast<IntegerAttr>(cast<Attribute>(at)).getInt())) +
         "] = " + of(insert.getValueToStore()) + ";");
    texts[insert] = of(insert.getDest());
    return success();
  }
  if (auto called = dyn_cast<func::CallOp>(op)) {
    std::string text = call(called.getCallee().str(), op);
    if (called.getNumResults() == 0) {
      line(text + ";");
      return success();
    }
    std::string name = fresh(called.getResult(0).getType());
    line("const " + cudaType(called.getResult(0).getType()) + " " + name + " = " + text + ";");
    texts[called.getResult(0)] = name;
    return success();
  }
  // Positions in memory are narrow enough to stay what they are.
  auto isAddress = [](Operation *user) { return isa<LLVM::GEPOp>(user); };
  if (auto cast = dyn_cast<arith::IndexCastOp>(op);
      cast && cast.getIn().getType().isIndex() &&
      (!cast.getType().isInteger(64) || llvm::all_of(cast->getUsers(), isAddress))) {
    Value position = cast.getIn();
    if (!cast.getType().isInteger(64) || isAtom(of(position)) || cast->hasOneUse()) {
      texts[cast] = of(position);
      return success();
    }
    std::string name = fresh(position.getType());
    line("const int " + name + " = " + of(position) + ";");
    texts[position] = name;
    texts[cast] = name;
    return success();
  }
  std::string text = op.getNumResults() == 1 ? expression(op) : "";
  if (text.empty())
    return op.emitError("has no text in CUDA C++");
  Value result = op.getResult(0);
  bool inlined = isAtom(text) || (result.hasOneUse() && text.size() <= longestInline &&
                                  (*result.user_begin())->getBlock() == op.getBlock());
  if (!inlined) {
    std::string name = fresh(result.getType());
    line("const " + cudaType(result.getType()) + " " + name + " = " + text + ";");
    text = name;
  }
  texts[result] = text;
  return success();
}

LogicalResult Printer::print(Block &block) {
  for (Operation &op : block)
    if (failed(print(op)))
      return failure();
  return success();
}

FailureOr<std::string> Printer::print(func::FuncOp function, const FunctionText &text) {
  Block &body = function.getBody().front();
  for (auto [argument, value] : llvm::zip_equal(text.arguments, body.getArguments())) {
    texts[value] = argument.name;
    if (StringRef(argument.type).contains("unsigned char *"))
      bytePointers.insert(value);
  }
  out = text.signature() + " {\n" + text.prologue;
  if (failed(print(body)))
    return failure();
  for (Value value : body.getTerminator()->getOperands())
    line("return " + of(value) + ";");
  out += "}\n";
  return std::move(out);
}

} // namespace

std::string FunctionText::signature() const {
  std::string text = head + "(";
  for (const Argument &argument : arguments)
    if (argument.isPassed)
      text += (text.back() == '(' ? "" : ", ") + argument.type +
              (argument.type.back() == '*' ? "" : " ") + argument.name;
  return text + ")";
}

FailureOr<std::string> printFunction(func::FuncOp function, const FunctionText &text,
                                     std::set<std::string> &calls) {
  return Printer(calls).print(function, text);
}

} // namespace weir
