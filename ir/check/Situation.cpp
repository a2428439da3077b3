//===- Situation.cpp - A function of an op test ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/check/Situation.h"
#include "ir/weir/ElementTypes.h"
#include <cmath>

using namespace mlir;

namespace weir::check {
namespace {

/// A dense value as the interpreter holds it.
Tensor tensorOf(Attribute attribute) {
  auto value = cast<DenseElementsAttr>(attribute);
  Tensor result(value.getType().getShape());
  Type element = value.getElementType();
  size_t i = 0;
  if (isa<FloatType>(element))
    for (const APFloat &number : value.getValues<APFloat>())
      result.values[i++] = number.convertToFloat();
  else
    for (const APInt &number : value.getValues<APInt>())
      result.values[i++] = leastOf(*elementOf(element)) < 0 ? double(number.getSExtValue())
                                                            : double(number.getZExtValue());
  return result;
}

Origin literal(Attribute value) { return {Origin::Kind::literal, 0, "", tensorOf(value)}; }

template <typename Op> void setTolerance(Expectation &expectation, Op op) {
  if (op.getWithin())
    expectation.within = op.getWithin()->convertToDouble();
  expectation.each = op.getEach();
}

class Extraction {
public:
  explicit Extraction(func::FuncOp function)
      : function(function), block(function.front()),
        situation{function.getName().str(), function.getLoc(), {}, {}, {}, {}} {}

  FailureOr<Situation> run();

private:
  Origin result(Value value) {
    auto found = llvm::find(results, value);
    if (found == results.end())
      found = results.insert(results.end(), value);
    return {Origin::Kind::result, unsigned(found - results.begin()), "", {}};
  }
  void extract(Operation *op);

  func::FuncOp function;
  Block &block;
  Situation situation;
  SmallVector<Value> results;
};

void Extraction::extract(Operation *op) {
  auto add = [&](Type type, Origin actual, Origin expected) -> Expectation & {
    situation.expectations.push_back(
        {op->getLoc(), cast<RankedTensorType>(type), actual, expected});
    return situation.expectations.back();
  };
  if (auto input = dyn_cast<InputOp>(op)) {
    situation.inputs.push_back(tensorOf(input.getValue()));
    input.getResult().replaceAllUsesWith(block.addArgument(input.getType(), input.getLoc()));
  } else if (auto set = dyn_cast<SetOp>(op)) {
    situation.variables[set.getVariable().str()] = tensorOf(set.getValue());
  } else if (auto expect = dyn_cast<ExpectOp>(op)) {
    auto &made = add(expect.getActual().getType(), result(expect.getActual()),
                     literal(expect.getExpected()));
    setTolerance(made, expect);
    made.exactly = expect.getExactly();
  } else if (auto close = dyn_cast<ExpectCloseOp>(op)) {
    setTolerance(
        add(close.getActual().getType(), result(close.getActual()), result(close.getExpected())),
        close);
  } else if (auto variable = dyn_cast<ExpectVariableOp>(op)) {
    auto &made = add(variable.getExpected().getType(),
                     {Origin::Kind::variable, 0, variable.getVariable().str(), {}},
                     literal(variable.getExpected()));
    setTolerance(made, variable);
    made.exactly = variable.getExactly();
  } else {
    return;
  }
  op->erase();
}

FailureOr<Situation> Extraction::run() {
  if (function.getNumArguments() || function.getNumResults())
    return function.emitError() << "a test takes nothing and returns nothing: its inputs are "
                                   "check.input, its results go to check.expect";
  situation.unsupported = function->getAttrOfType<DictionaryAttr>(unsupportedName);
  function->removeAttr(unsupportedName);
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    extract(&op);
  if (situation.expectations.empty())
    return function.emitError("a test has to expect something: add a check.expect");
  Operation *end = block.getTerminator();
  OpBuilder builder(end);
  func::ReturnOp::create(builder, end->getLoc(), results);
  end->erase();
  function.setFunctionType(
      builder.getFunctionType(block.getArgumentTypes(), ValueRange(results).getTypes()));
  return situation;
}

const Tensor &valueOf(const Origin &origin, const Outcome &outcome) {
  switch (origin.kind) {
  case Origin::Kind::result:
    return outcome.results[origin.result];
  case Origin::Kind::variable:
    return outcome.variables.at(origin.variable);
  case Origin::Kind::literal:
    return origin.literal;
  }
  llvm_unreachable("a kind of origin");
}

} // namespace

bool isNamedBy(StringRef backend, StringRef name) {
  return backend.consume_front(name) && (backend.empty() || backend.front() == ':');
}

StringRef Situation::unsupportedBy(StringRef backend) const {
  if (unsupported)
    for (NamedAttribute reason : unsupported)
      if (isNamedBy(backend, reason.getName()))
        return cast<StringAttr>(reason.getValue()).getValue();
  return "";
}

FailureOr<std::vector<Situation>> extractSituations(ModuleOp module) {
  std::vector<Situation> situations;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    FailureOr<Situation> situation = Extraction(function).run();
    if (failed(situation))
      return failure();
    situations.push_back(std::move(*situation));
  }
  if (situations.empty())
    return module.emitError("no function in this file: a test is a func.func with check.expect");
  return situations;
}

std::optional<Disagreement> disagreement(const Expectation &expectation, const Outcome &outcome) {
  const Tensor &actual = valueOf(expectation.actual, outcome),
               &expected = valueOf(expectation.expected, outcome);
  Element element = *elementOf(expectation.type.getElementType());
  bool isFloat = rowOf(element).kind == ElementKind::real;
  double largest = 0;
  for (double value : expected.values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  auto agree = [&](double a, double e) {
    if (!isFloat)
      return a == e;
    // The interpreter's numbers have more digits, and a greater range.
    a = rounded(element, a);
    e = rounded(element, e);
    if (std::isnan(a) || std::isnan(e))
      return std::isnan(a) && std::isnan(e);
    if (expectation.exactly)
      return a == e;
    if (std::isinf(a) || std::isinf(e))
      return a == e;
    return std::fabs(a - e) <= expectation.within * (expectation.each ? std::fabs(e) : largest);
  };
  std::optional<Disagreement> first;
  size_t i = 0;
  forEachIndex(expected.shape, [&](ArrayRef<int64_t> index) {
    double a = actual.values[i], e = expected.values[i];
    ++i;
    if (agree(a, e))
      return;
    if (!first)
      first = Disagreement{Shape(index), e, a, 0};
    ++first->count;
  });
  return first;
}

} // namespace weir::check
