//===- Print.cpp - Scalar code as CUDA C++ --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Print.h"
#include "codegen/cuda/Expression.h"
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
  LogicalResult printArray(LLVM::AllocaOp array);
  LogicalResult printLoad(LLVM::LoadOp load);
  LogicalResult printStore(LLVM::StoreOp store);
  LogicalResult printInsert(vector::InsertOp insert);
  LogicalResult printCall(func::CallOp called);
  LogicalResult printIndexCast(arith::IndexCastOp cast);
  LogicalResult printExpression(Operation &op);
  /// The address that the op computes; no text of its own.
  LogicalResult keepAddress(LLVM::GEPOp gep);
  /// Assigns values to variables, all at once.
  void assign(ArrayRef<std::string> names, ValueRange values);
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
  std::string call(const std::string &name, Operation &op) {
    return callText(name, op, [&](Value value) { return of(value); });
  }
  /// Defines a constant with a fresh name for the value, and gives the name.
  std::string define(Value value, const std::string &text) {
    std::string name = fresh(value.getType());
    line("const " + cudaType(value.getType()) + " " + name + " = " + text + ";");
    return name;
  }

  std::set<std::string> &calls;
  std::string out;
  int depth = 1;
  llvm::DenseMap<Value, std::string> texts;
  llvm::DenseMap<Value, Address> addresses;
  llvm::DenseSet<Value> bytePointers; ///< behind which there may be anything
  std::map<char, int> names;
};

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

LogicalResult Printer::printArray(LLVM::AllocaOp array) {
  std::string name = "own" + std::to_string(names['o']++);
  line(cudaType(array.getElemType()) + " " + name + "[" + of(array.getArraySize()) + "];");
  texts[array] = name;
  return success();
}

LogicalResult Printer::keepAddress(LLVM::GEPOp gep) {
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

LogicalResult Printer::printLoad(LLVM::LoadOp load) {
  std::string source;
  if (auto vector = dyn_cast<VectorType>(load.getType())) {
    Address at = addressOf(load.getAddr(), vector);
    source = "weir_load<" + cudaType(vector.getElementType()) + ", " +
             std::to_string(vector.getNumElements()) + ">(" + at.base + " + " + grouped(at.index) +
             ")";
  } else {
    source = place(load.getAddr(), load.getType());
  }
  texts[load] = define(load, source);
  return success();
}

LogicalResult Printer::printStore(LLVM::StoreOp store) {
  if (isa<VectorType>(store.getValue().getType())) {
    Address at = addressOf(store.getAddr(), store.getValue().getType());
    line("weir_store(" + at.base + " + " + grouped(at.index) + ", " + of(store.getValue()) + ");");
  } else {
    line(place(store.getAddr(), store.getValue().getType()) + " = " + of(store.getValue()) + ";");
  }
  return success();
}

LogicalResult Printer::printInsert(vector::InsertOp insert) {
  std::string at =
      positionText(insert.getMixedPosition()[0], [&](Value value) { return of(value); });
  line(of(insert.getDest()) + "[" + at + "] = " + of(insert.getValueToStore()) + ";");
  texts[insert] = of(insert.getDest());
  return success();
}

LogicalResult Printer::printCall(func::CallOp called) {
  std::string text = call(called.getCallee().str(), *called);
  if (called.getNumResults() == 0)
    line(text + ";");
  else
    texts[called.getResult(0)] = define(called.getResult(0), text);
  return success();
}

/// Whether the cast of a position to an address, or to a narrow number, is the position itself:
/// positions in memory fit into an int.
bool isPosition(arith::IndexCastOp cast) {
  auto isAddress = [](Operation *user) { return isa<LLVM::GEPOp>(user); };
  return cast.getIn().getType().isIndex() &&
         (!cast.getType().isInteger(64) || llvm::all_of(cast->getUsers(), isAddress));
}

LogicalResult Printer::printIndexCast(arith::IndexCastOp cast) {
  Value position = cast.getIn();
  if (cast.getType().isInteger(64) && !isAtom(of(position)) && !cast->hasOneUse())
    texts[position] = define(position, of(position));
  texts[cast] = of(position);
  return success();
}

LogicalResult Printer::printExpression(Operation &op) {
  std::string text;
  if (op.getNumResults() == 1)
    text = expressionText(op, [&](Value value) { return of(value); }, calls);
  if (text.empty())
    return op.emitError("has no text in CUDA C++");
  Value result = op.getResult(0);
  bool inlined = isAtom(text) || (result.hasOneUse() && text.size() <= longestInline &&
                                  (*result.user_begin())->getBlock() == op.getBlock());
  texts[result] = inlined ? text : define(result, text);
  return success();
}

LogicalResult Printer::print(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp loop) { return printLoop(loop); })
      .Case([&](scf::IfOp choice) { return printChoice(choice); })
      .Case<scf::YieldOp, func::ReturnOp, ub::PoisonOp>([](auto) { return success(); })
      .Case([&](arith::ConstantOp constant) {
        texts[constant] = textOf(constant.getValue());
        return success();
      })
      .Case([&](LLVM::AllocaOp array) { return printArray(array); })
      .Case([&](LLVM::GEPOp gep) { return keepAddress(gep); })
      .Case([&](LLVM::LoadOp load) { return printLoad(load); })
      .Case([&](LLVM::StoreOp store) { return printStore(store); })
      .Case([&](vector::InsertOp insert) { return printInsert(insert); })
      .Case([&](func::CallOp called) { return printCall(called); })
      .Case([&](arith::IndexCastOp cast) {
        return isPosition(cast) ? printIndexCast(cast) : printExpression(op);
      })
      .Default([&](Operation *) { return printExpression(op); });
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
