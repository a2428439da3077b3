//===- TypeMatcher.cpp - Arguments and results against their types --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/TypeMatcher.h"

namespace weir::elab {

static const char *article(ast::Scalar scalar) {
  switch (scalar) {
  case ast::Scalar::floating:
    return "a float";
  case ast::Scalar::integer:
    return "an int";
  case ast::Scalar::boolean:
    return "a truth value";
  case ast::Scalar::f32:
    return "an f32 scalar";
  case ast::Scalar::i32:
    return "an i32 scalar";
  case ast::Scalar::ratio:
    return "a ratio";
  }
  llvm_unreachable("a scalar type");
}

Value TypeMatcher::matchScalar(ast::Scalar scalar, const Value &value, const Matched &matched) {
  switch (scalar) {
  case ast::Scalar::floating:
    if (value.isNumber())
      return value.number();
    break;
  case ast::Scalar::integer:
    if (value.get<int64_t>())
      return value;
    break;
  case ast::Scalar::boolean:
    if (value.get<bool>())
      return value;
    break;
  case ast::Scalar::ratio:
    if (value.get<Ratio>())
      return value;
    break;
  case ast::Scalar::f32:
  case ast::Scalar::i32: {
    mlir::Type wanted = scalar == ast::Scalar::f32 ? tensors.f32() : tensors.i32();
    Value scalar = value;
    const Tensor *tensor = tensors.asTensor(scalar, wanted, matched.range);
    if (scalar.isPoison() || (tensor && tensor->rank() == 0 && tensor->element() == wanted))
      return scalar;
    break;
  }
  }
  Diagnostic &report = reporter.error(matched.range, matched.what + " must be " + article(scalar) +
                                                         ", but is " + value.describe());
  if (value.get<Tensor>() && (scalar == ast::Scalar::floating || scalar == ast::Scalar::integer))
    report.help("it must be known when compiling");
  return {};
}

Value TypeMatcher::matchTensor(const ast::TensorType &type, const Value &value,
                               const Matched &matched) {
  mlir::Type wanted = tensors.element(type.element);
  Value given = value;
  const Tensor *found =
      type.dims.empty() ? tensors.asTensor(given, wanted, matched.range) : given.get<Tensor>();
  if (!found) {
    if (!given.isPoison())
      reporter
          .error(matched.range, matched.what + " must be a tensor " +
                                    std::string(type.range.text()) + ", but is " + value.describe())
          .note(type.range, "declared here");
    return {};
  }
  bool widens = found->isByte() && wanted.isInteger(32);
  Tensor tensor = widens ? tensors.cast(*found, wanted, matched.range) : *found;
  return shapes.match(type, tensor, matched) ? Value(tensor) : Value();
}

Value TypeMatcher::match(const ast::Type &type, const Value &value, const Matched &matched) {
  const auto *scalar = llvm::dyn_cast<ast::ScalarType>(&type);
  if (scalar && !value.isPoison())
    return matchScalar(scalar->scalar, value, matched);
  Value result;
  if (!value.isPoison())
    result = matchTensor(llvm::cast<ast::TensorType>(type), value, matched);
  if (result.isPoison() && matched.binds) {
    current->faulty = true;
    current->hasEllipsis = true;
  }
  return result;
}

Value TypeMatcher::matchParameter(const ast::Parameter &parameter, const CallArgument &argument) {
  const std::string name = parameter.name.text;
  Matched matched{argument.range,
                  "argument `" + name + "` of `" + current->callable->name.text + "`",
                  "argument `" + name + "`", /*binds=*/true};
  if (parameter.type)
    return match(*parameter.type, argument.value, matched);
  if (!parameter.defaultValue || argument.value.isPoison())
    return argument.value;
  // The default says what is wanted.
  const ast::Expr &value = *parameter.defaultValue;
  if (llvm::isa<ast::BooleanExpr>(&value))
    return matchScalar(ast::Scalar::boolean, argument.value, matched);
  if (llvm::isa<ast::IntegerExpr>(&value))
    return matchScalar(ast::Scalar::integer, argument.value, matched);
  if (llvm::isa<ast::FloatingExpr>(&value)) {
    const auto *tensor = argument.value.get<Tensor>();
    if (tensor && tensor->rank() == 0 && tensor->isFloat())
      return argument.value;
    return matchScalar(ast::Scalar::floating, argument.value, matched);
  }
  return argument.value;
}

Value TypeMatcher::matchResults(const ast::CallableItem &callable, Value result) {
  if (result.isPoison())
    return {};
  const std::string name = "the result of `" + callable.name.text + "`";
  std::vector<Value> values = result.members() ? *result.members() : std::vector<Value>{result};
  if (values.size() != callable.results.size()) {
    reporter.error(current->resultRanges.front(),
                   "`" + callable.name.text + "` declares " +
                       std::to_string(callable.results.size()) +
                       (callable.results.size() == 1 ? " result" : " results") + ", but returns " +
                       std::to_string(values.size()));
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = match(*callable.results[i], values[i],
                      {current->resultRanges[current->resultRanges.size() == values.size() ? i : 0],
                       name, "", /*binds=*/false});
  for (Value &value : values)
    shapes.restoreNames(value);
  if (values.size() == 1)
    return values.front();
  for (const Value &value : values)
    if (value.isPoison())
      return {};
  return Value::tuple(std::move(values));
}

} // namespace weir::elab
